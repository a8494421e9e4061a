/// A dictionary bounded by cost that forgets what was not asked for the longest.
///
/// A doubly linked list inside an array: every operation but ``removeAll(where:)`` takes the same time
/// however many values there are.
package struct LRUTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node {
        var key: Key
        var value: Value
        var cost: Int
        var older: Int
        var newer: Int
    }

    private static var none: Int { -1 }

    private var nodes: [Node?] = []
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
        return nodes[slot]?.value
    }

    /// Puts a value in as the newest and lets go of the oldest until the limit holds.
    ///
    /// - Returns: False when the value alone is beyond the limit: then the key has no value any more.
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key, cost: Int) -> Bool {
        remove(key)
        guard cost <= limit else { return false }
        while totalCost > limit - cost, let node = node(oldest) { remove(node.key) }
        let node = Node(key: key, value: value, cost: cost, older: Self.none, newer: Self.none)
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            nodes[slot] = node
        } else {
            slot = nodes.count
            nodes.append(node)
        }
        index[key] = slot
        totalCost += cost
        linkAsNewest(slot)
        return true
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let slot = index.removeValue(forKey: key), let node = nodes[slot] else { return nil }
        unlink(slot)
        nodes[slot] = nil
        free.append(slot)
        totalCost -= node.cost
        return node.value
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
        while let node = node(slot) {
            result.append((node.key, node.value))
            slot = node.older
        }
        return result
    }

    private func node(_ slot: Int) -> Node? { slot >= 0 ? nodes[slot] : nil }

    private mutating func unlink(_ slot: Int) {
        guard let node = node(slot) else { return }
        if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
        if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
    }

    private mutating func linkAsNewest(_ slot: Int) {
        nodes[slot]?.older = newest
        nodes[slot]?.newer = Self.none
        if newest >= 0 { nodes[newest]?.newer = slot }
        newest = slot
        if oldest < 0 { oldest = slot }
    }
}
