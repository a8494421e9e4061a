package import Foundation

/// The order of the entries to one origin: by sequence, the one under way first.
///
/// Entries leave it lazily: whoever asks for the first says who is still there, and what has gone is dropped on the way.
/// In at the end and out at the front take constant time, in between the logarithm and a move of small values.
package struct OutboxLine: Sendable {
    private struct Place {
        var sequence: Int64
        var id: UUID
    }

    private var places: [Place] = []
    private var head = 0

    package init() {}

    /// How many places are kept, those of who has gone included.
    package var count: Int { places.count - head }

    /// Puts an entry where its sequence belongs; where it has kept its place, it stays there.
    ///
    /// - Parameter isBehindFirst: Whether nobody comes before the first, who is under way.
    package mutating func insert(_ id: UUID, sequence: Int64, isBehindFirst: Bool) {
        // The first may stand before lower ones: it was under way when they came back. Behind it all are in order.
        var low = min(head + 1, places.count)
        var high = places.count
        while low < high {
            let middle = low + (high - low) / 2
            if places[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        if places.indices.contains(low - 1), low > head, places[low - 1].id == id { return }
        let isBeforeFirst =
            !isBehindFirst && low == head + 1 && places[head].sequence > sequence
        places.insert(Place(sequence: sequence, id: id), at: isBeforeFirst ? head : low)
    }

    /// The first of those who are still there.
    package mutating func first(where isThere: (UUID) -> Bool) -> UUID? {
        while head < places.count, !isThere(places[head].id) { head += 1 }
        if head > 64, head * 2 > places.count {
            places.removeFirst(head)
            head = 0
        }
        return head < places.count ? places[head].id : nil
    }

    /// Forgets all who have gone.
    package mutating func compact(where isThere: (UUID) -> Bool) {
        places = places[head...].filter { isThere($0.id) }
        head = 0
    }
}
