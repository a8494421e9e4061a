/// A dictionary with a cost limit that evicts the least recently used values.
///
/// It is a doubly linked list in an array. Every operation except ``removeAll(where:)`` takes amortized
/// constant time.
///
/// The members are inlinable, so that other modules specialize them for their keys and values
/// (decision 17).
@usableFromInline
package struct LRUTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    struct Slot: Sendable {
        @usableFromInline var key: Key
        @usableFromInline var value: Value
        @usableFromInline var cost: Int

        @inlinable
        init(key: Key, value: Value, cost: Int) {
            self.key = key
            self.value = value
            self.cost = cost
        }
    }

    /// The links of an entry, stored separately so that moving an entry to the front copies no value.
    @usableFromInline
    struct Link: Sendable {
        @usableFromInline var older: Int
        @usableFromInline var newer: Int

        @inlinable
        init(older: Int, newer: Int) {
            self.older = older
            self.newer = newer
        }
    }

    @usableFromInline var slots: [Slot?] = []
    @usableFromInline var links: [Link] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline var index: [Key: Int] = [:]
    @usableFromInline var newest = -1
    @usableFromInline var oldest = -1

    /// The maximum of ``totalCost``.
    @usableFromInline package let limit: Int
    /// The sum of the costs of all values.
    @usableFromInline package internal(set) var totalCost = 0

    @inlinable
    package init(limit: Int) { self.limit = max(0, limit) }

    @inlinable package var count: Int { index.count }

    /// The value of a key; the access makes it the most recently used.
    @inlinable
    package mutating func value(for key: Key) -> Value? {
        guard let slot = index[key] else { return nil }
        if slot != newest {
            unlink(slot)
            linkAsNewest(slot)
        }
        return slots[slot]?.value
    }

    /// The value of a key; the access does not change the order.
    @inlinable
    package func peek(_ key: Key) -> Value? { index[key].flatMap { slots[$0]?.value } }

    /// All values, by key.
    package var values: [Key: Value] { index.compactMapValues { slots[$0]?.value } }

    /// The least recently used key.
    @inlinable package var oldestKey: Key? { oldest >= 0 ? slots[oldest]?.key : nil }

    /// Changes the value of a key in place and makes it the most recently used; `nil` if there is none.
    @inlinable
    package mutating func change<Result>(
        _ key: Key, _ change: (inout Value) -> Result
    ) -> Result? {
        guard value(for: key) != nil, let slot = index[key] else { return nil }
        guard var entry = slots[slot].take() else { return nil }
        let result = change(&entry.value)
        slots[slot] = entry
        return result
    }

    /// Inserts a value as the most recently used and evicts the least recently used ones over the limit.
    ///
    /// - Returns: False if the cost of the value alone exceeds the limit; the key then has no value.
    @discardableResult
    @inlinable
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
    @inlinable
    package mutating func remove(_ key: Key) -> Value? {
        guard let slot = index.removeValue(forKey: key) else { return nil }
        unlink(slot)
        free.append(slot)
        guard let entry = slots[slot].take() else { return nil }
        totalCost -= entry.cost
        return entry.value
    }

    @inlinable
    package mutating func removeAll() { self = LRUTable(limit: limit) }

    @inlinable
    package mutating func removeAll(where predicate: (Key, Value) -> Bool) {
        for (key, value) in all where predicate(key, value) { remove(key) }
    }

    /// All keys and values, most recently used first.
    @inlinable package var all: [(Key, Value)] {
        var result: [(Key, Value)] = []
        result.reserveCapacity(count)
        var slot = newest
        while slot >= 0 {
            if let entry = slots[slot] { result.append((entry.key, entry.value)) }
            slot = links[slot].older
        }
        return result
    }

    @inlinable
    mutating func unlink(_ slot: Int) {
        let link = links[slot]
        if link.newer >= 0 { links[link.newer].older = link.older } else { newest = link.older }
        if link.older >= 0 { links[link.older].newer = link.newer } else { oldest = link.newer }
    }

    @inlinable
    mutating func linkAsNewest(_ slot: Int) {
        links[slot] = Link(older: newest, newer: -1)
        if newest >= 0 { links[newest].newer = slot }
        newest = slot
        if oldest < 0 { oldest = slot }
    }
}
