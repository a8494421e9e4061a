package import ErrandSystem

/// The order of the entries to one origin: by sequence, with the entry being sent first.
///
/// Removed entries stay in the array until ``first(where:)`` reaches them. Appending and taking the
/// first entry take constant time; inserting elsewhere takes a binary search and a move of small
/// values.
package struct OutboxOriginQueue: Sendable {
    private struct Item {
        var sequence: Int64
        var id: UUID
    }

    private var items: [Item] = []
    private var head = 0

    package init() {}

    /// The number of items, including those of removed entries.
    package var count: Int { items.count - head }

    /// Inserts an entry in the order of sequences; does nothing if its old item is still there.
    ///
    /// - Parameter keepsFirst: Whether the first entry is being sent, so that it stays first.
    package mutating func insert(_ id: UUID, sequence: Int64, keepsFirst: Bool) {
        // The first item may precede lower sequences that were inserted while it was being sent.
        // The items after it are sorted.
        var low = min(head + 1, items.count)
        var high = items.count
        while low < high {
            let middle = low + (high - low) / 2
            if items[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        if items.indices.contains(low - 1), low > head, items[low - 1].id == id { return }
        let isBeforeFirst =
            !keepsFirst && low == head + 1 && items[head].sequence > sequence
        items.insert(Item(sequence: sequence, id: id), at: isBeforeFirst ? head : low)
    }

    /// The first entry for which `isThere` is true; drops the items before it.
    package mutating func first(where isThere: (UUID) -> Bool) -> UUID? {
        while head < items.count, !isThere(items[head].id) { head += 1 }
        if head > 64, head * 2 > items.count {
            items.removeFirst(head)
            head = 0
        }
        return head < items.count ? items[head].id : nil
    }

    /// Drops the items of all removed entries.
    package mutating func compact(where isThere: (UUID) -> Bool) {
        items = items[head...].filter { isThere($0.id) }
        head = 0
    }
}
