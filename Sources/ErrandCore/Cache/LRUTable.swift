/// A dictionary bounded by cost that forgets what was not asked for the longest.
///
/// A doubly linked list inside an array: every operation but ``removeAll(where:)`` takes the same
/// time however many values there are.
package struct LRUTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot {
        var key: Key
        var value: Value
        var cost: Int
    }

    /// Apart from the values, so that moving an entry to the front copies none of them.
    private struct Link {
        var older: Int
        var newer: Int
    }

    private var slots: [Slot?] = []
    private var links: [Link] = []
    private var free: [Int] = []
    private var index: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    /// The sum of costs that is never exceeded.
    package let limit: Int
    /// The sum of the costs of all values.
    package private(set) var totalCost = 0

    package init(limit: Int) { self.limit = max(0, limit) }

    package var count: Int { index.count }

    /// The value of a key, which thereby becomes the newest.
    package mutating func value(for key: Key) -> Value? {
        guard let slot = index[key] else { return nil }
        if slot != newest {
            unlink(slot)
            linkAsNewest(slot)
        }
        return slots[slot]?.value
    }

    /// Changes the value of a key in its place, which thereby becomes the newest; `nil` when there is none.
    package mutating func change<Result>(
        _ key: Key, _ change: (inout Value) -> Result
    ) -> Result? {
        guard value(for: key) != nil, let slot = index[key] else { return nil }
        guard var entry = slots[slot].take() else { return nil }
        let result = change(&entry.value)
        slots[slot] = entry
        return result
    }

    /// Puts a value in as the newest and lets go of the oldest until the limit holds.
    ///
    /// - Returns: False when the value alone is beyond the limit: then the key has no value any more.
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key, cost: Int) -> Bool {
        remove(key)
        guard cost <= limit else { return false }
        while totalCost > limit - cost, oldest >= 0, let key = slots[oldest]?.key { remove(key) }
        let entry = Slot(key: key, value: value, cost: cost)
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            slots[slot] = entry
        } else {
            slot = slots.count
            slots.append(entry)
            links.append(Link(older: -1, newer: -1))
        }
        index[key] = slot
        totalCost += cost
        linkAsNewest(slot)
        return true
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let slot = index.removeValue(forKey: key) else { return nil }
        unlink(slot)
        free.append(slot)
        guard let entry = slots[slot].take() else { return nil }
        totalCost -= entry.cost
        return entry.value
    }

    package mutating func removeAll() { self = LRUTable(limit: limit) }

    package mutating func removeAll(where predicate: (Key, Value) -> Bool) {
        for (key, value) in all where predicate(key, value) { remove(key) }
    }

    /// Everything, the newest first.
    package var all: [(Key, Value)] {
        var result: [(Key, Value)] = []
        result.reserveCapacity(count)
        var slot = newest
        while slot >= 0 {
            if let entry = slots[slot] { result.append((entry.key, entry.value)) }
            slot = links[slot].older
        }
        return result
    }

    private mutating func unlink(_ slot: Int) {
        let link = links[slot]
        if link.newer >= 0 { links[link.newer].older = link.older } else { newest = link.older }
        if link.older >= 0 { links[link.older].newer = link.newer } else { oldest = link.newer }
    }

    private mutating func linkAsNewest(_ slot: Int) {
        links[slot] = Link(older: newest, newer: -1)
        if newest >= 0 { links[newest].newer = slot }
        newest = slot
        if oldest < 0 { oldest = slot }
    }
}
