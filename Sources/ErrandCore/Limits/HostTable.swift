package import ErrandHTTP

/// A bounded table of values by host.
///
/// Idle entries, which equal a new one, are removed first; above ``capacity``, the least recently
/// used entry. The members are inlinable, so that other modules specialize them (decision 17).
@usableFromInline
package struct HostTable<Value: Sendable>: Sendable {
    /// The default maximum number of hosts.
    @inlinable package static var capacity: Int { 4096 }
    /// Below this count idle entries are not removed.
    @usableFromInline static var minimumSweepCount: Int { 64 }

    @usableFromInline var entries: LRUTable<String, Value>
    @usableFromInline var sweepAt: Int

    @inlinable
    package init(capacity: Int = Self.capacity) {
        entries = LRUTable(limit: max(1, capacity))
        sweepAt = Self.minimumSweepCount
    }

    @inlinable package var count: Int { entries.count }

    /// The value for a host; a read counts as a use.
    @inlinable
    package mutating func value(for host: String) -> Value? { entries.value(for: host) }

    /// All values, by host; the order of use stays.
    package var values: [String: Value] { entries.values }

    /// Changes the value for a host and returns the result of the change.
    ///
    /// - Parameters:
    ///   - new: The value for a host without an entry.
    ///   - isIdle: Whether a value equals a new one, so that the entry can be removed.
    @inlinable
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
