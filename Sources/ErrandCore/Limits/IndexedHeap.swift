import ErrandHTTP

/// An indexed binary heap of keys ordered by rank: O(log n) insertion, removal and rank change.
package struct IndexedHeap<Key: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
    private struct Entry {
        var rank: Rank
        var key: Key
    }

    private var heap: [Entry] = []
    private var positions: [Key: Int] = [:]

    package init() {}

    package var isEmpty: Bool { heap.isEmpty }
    package var count: Int { heap.count }

    /// The key with the lowest rank.
    package var first: (key: Key, rank: Rank)? { heap.first.map { ($0.key, $0.rank) } }

    package func contains(_ key: Key) -> Bool { positions[key] != nil }

    /// Inserts a key, or changes its rank.
    package mutating func set(_ rank: Rank, for key: Key) {
        guard let index = positions[key] else {
            heap.append(Entry(rank: rank, key: key))
            positions[key] = heap.count - 1
            rise(heap.count - 1)
            return
        }
        heap[index].rank = rank
        settle(index, key)
    }

    /// Removes a key; false if it is not present.
    @discardableResult
    package mutating func remove(_ key: Key) -> Bool {
        guard let index = positions.removeValue(forKey: key) else { return false }
        let last = heap.removeLast()
        guard index < heap.count else { return true }
        heap[index] = last
        positions[last.key] = index
        settle(index, last.key)
        return true
    }

    package mutating func popFirst() -> Key? {
        guard let key = heap.first?.key else { return nil }
        remove(key)
        return key
    }

    private mutating func settle(_ index: Int, _ key: Key) {
        rise(index)
        if let index = positions[key] { sink(index) }
    }

    private mutating func rise(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].rank < heap[parent].rank else { return }
            swap(child, parent)
            child = parent
        }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].rank < heap[best].rank { best = child }
            }
            guard best != parent else { return }
            swap(parent, best)
            parent = best
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        positions[heap[one].key] = one
        positions[heap[other].key] = other
    }
}
