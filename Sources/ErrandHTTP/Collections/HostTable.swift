/// A bounded table of values by host.
///
/// Idle entries, which equal a new one, are removed first; above ``capacity``, the least recently
/// used entry.
package struct HostTable<Value: Sendable>: Sendable {
    /// The default maximum number of hosts.
    package static var capacity: Int { 4096 }
    /// Below this count idle entries are not removed.
    private static var minimumSweepCount: Int { 64 }

    private var entries: LRUTable<String, Value>
    private var sweepAt = Self.minimumSweepCount

    package init(capacity: Int = Self.capacity) { entries = LRUTable(limit: max(1, capacity)) }

    package var count: Int { entries.count }

    /// The value for a host; a read counts as a use.
    package mutating func value(for host: String) -> Value? { entries.value(for: host) }

    /// Changes the value for a host and returns the result of the change.
    ///
    /// - Parameters:
    ///   - new: The value for a host without an entry.
    ///   - isIdle: Whether a value equals a new one, so that the entry can be removed.
    package mutating func update<Result>(
        _ host: String, new: @autoclosure () -> Value, isIdle: (Value) -> Bool,
        _ change: (inout Value) -> Result
    ) -> Result {
        var value = entries.remove(host) ?? new()
        let result = change(&value)
        guard !isIdle(value) else { return result }
        if entries.count >= sweepAt {
            entries.removeAll { isIdle($1) }
            // The next sweep comes at twice the size: amortized constant time per insertion.
            sweepAt = max(Self.minimumSweepCount, 2 * entries.count)
        }
        entries.insert(value, for: host, cost: 1)
        return result
    }
}
