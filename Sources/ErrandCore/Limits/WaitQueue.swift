import ErrandHTTP

/// The order of a request in a queue: its arrival, moved forward by its priority.
///
/// A priority moves a request forward by a fixed number of arrivals, so urgent requests cannot starve the others.
package struct WaitRank: Sendable, Comparable {
    /// The number of earlier arrivals of normal priority that a request of high priority overtakes.
    package static let headStart: Int64 = 1024

    private var position: Int64
    private var ticket: UInt64

    package init(_ ticket: UInt64, _ priority: RequestPriority) {
        position =
            Int64(truncatingIfNeeded: ticket) - Int64(priority.rawValue) * Self.headStart
            / Int64(RequestPriority.high.rawValue)
        self.ticket = ticket
    }

    package static func < (one: Self, other: Self) -> Bool {
        (one.position, one.ticket) < (other.position, other.ticket)
    }
}

/// Waiting tickets, ordered by rank.
package struct WaitQueue: Sendable {
    private var tickets = IndexedHeap<UInt64, WaitRank>()

    package init() {}

    package var isEmpty: Bool { tickets.isEmpty }
    package var count: Int { tickets.count }

    /// The rank of the first ticket, to compare queues.
    package var firstRank: WaitRank? { tickets.first?.rank }

    package mutating func insert(_ ticket: UInt64, priority: RequestPriority) {
        guard !tickets.contains(ticket) else { return }
        tickets.set(WaitRank(ticket, priority), for: ticket)
    }

    /// Removes a ticket; false if it is not in the queue.
    @discardableResult
    package mutating func remove(_ ticket: UInt64) -> Bool { tickets.remove(ticket) }

    package mutating func setPriority(_ priority: RequestPriority, of ticket: UInt64) {
        guard tickets.contains(ticket) else { return }
        tickets.set(WaitRank(ticket, priority), for: ticket)
    }

    package mutating func popFirst() -> UInt64? { tickets.popFirst() }
}
