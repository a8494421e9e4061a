/// What is known of each host, bounded: a program that talks to ever new hosts keeps no entry of each for ever.
///
/// Entries that say no more than a new one would are let go first; beyond ``capacity`` the one that was not asked
/// for the longest.
package struct HostTable<Value: Sendable>: Sendable {
    /// More hosts than this are not remembered at once.
    package static var capacity: Int { 4096 }
    /// Fewer than this are not worth a look.
    private static var smallest: Int { 64 }

    private var entries: LRUTable<String, Value>
    private var sweepAt = Self.smallest

    package init(capacity: Int = Self.capacity) { entries = LRUTable(limit: max(1, capacity)) }

    package var count: Int { entries.count }

    /// Reads what is known without keeping it alive any longer than its use does.
    package mutating func value(for host: String) -> Value? { entries.value(for: host) }

    /// Changes what is known of a host.
    ///
    /// - Parameters:
    ///   - new: What is known of a host that nobody asked for.
    ///   - isIdle: Whether an entry says no more than a new one would.
    package mutating func update<Result>(
        _ host: String, new: @autoclosure () -> Value, isIdle: (Value) -> Bool,
        _ change: (inout Value) -> Result
    ) -> Result {
        var value = entries.remove(host) ?? new()
        let result = change(&value)
        guard !isIdle(value) else { return result }
        if entries.count >= sweepAt {
            entries.removeAll { isIdle($1) }
            // Looked through again when there are twice as many: a constant time for each that comes.
            sweepAt = max(Self.smallest, 2 * entries.count)
        }
        entries.insert(value, for: host, cost: 1)
        return result
    }
}
