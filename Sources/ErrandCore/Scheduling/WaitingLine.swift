/// Where a request stands: by urgency first, by its arrival in the long run.
///
/// Priority is a head start, no caste: a step of it is worth so many places, so that a flood of urgent requests
/// passes a patient one by that much and no more.
package struct WaitingRank: Sendable, Comparable {
    /// How many later arrivals of normal priority one of high priority passes.
    package static let headStart: Int64 = 1024

    private var place: Int64
    private var ticket: UInt64

    package init(_ ticket: UInt64, _ priority: RequestPriority) {
        place =
            Int64(truncatingIfNeeded: ticket) - Int64(priority.rawValue) * Self.headStart
            / Int64(RequestPriority.high.rawValue)
        self.ticket = ticket
    }

    package static func < (one: Self, other: Self) -> Bool {
        (one.place, one.ticket) < (other.place, other.ticket)
    }
}

/// Tickets in order of urgency.
package struct WaitingLine: Sendable {
    private var tickets = RankedHeap<UInt64, WaitingRank>()

    package init() {}

    package var isEmpty: Bool { tickets.isEmpty }
    package var count: Int { tickets.count }

    /// Where the first in line stands compared with the first of another line.
    package var firstRank: WaitingRank? { tickets.first?.rank }

    package mutating func insert(_ ticket: UInt64, priority: RequestPriority) {
        guard !tickets.contains(ticket) else { return }
        tickets.set(WaitingRank(ticket, priority), for: ticket)
    }

    /// Takes a ticket out, wherever it stands; false when it does not stand here.
    @discardableResult
    package mutating func remove(_ ticket: UInt64) -> Bool { tickets.remove(ticket) }

    package mutating func setPriority(_ priority: RequestPriority, of ticket: UInt64) {
        guard tickets.contains(ticket) else { return }
        tickets.set(WaitingRank(ticket, priority), for: ticket)
    }

    package mutating func popFirst() -> UInt64? { tickets.popFirst() }
}
