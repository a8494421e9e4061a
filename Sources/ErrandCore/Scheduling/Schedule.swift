/// Who is under way and who waits: the whole of scheduling without effects.
///
/// Requests of one host and one limited tag stand in one lane. O(log n) in those that wait, linear in the lanes.
package struct Schedule: Sendable {
    /// What a request counts against.
    package struct Lane: Sendable, Hashable {
        package var host: String
        /// The tag, where it has a limit.
        package var tag: Int?

        package init(host: String, tag: Int?) {
            self.host = host
            self.tag = tag
        }
    }

    package enum Arrival: Sendable, Equatable { case enters, waits, refused }

    private var limits = RequestLimits()
    private var total = 0
    private var hosts: [String: Int] = [:]
    private var tags: [Int: Int] = [:]
    private var lanes: [Lane: WaitingLine] = [:]
    private var laneOfTicket: [UInt64: Lane] = [:]

    package init() {}

    package var waiting: Int { laneOfTicket.count }
    package var underWay: Int { total }
    package func isWaiting(_ ticket: UInt64) -> Bool { laneOfTicket[ticket] != nil }

    /// Takes up other limits; what fits now is returned by the next ``admit()``.
    package mutating func use(_ limits: RequestLimits) {
        if limits != self.limits { self.limits = limits }
    }

    package mutating func arrive(
        _ ticket: UInt64, lane: Lane, priority: RequestPriority
    ) -> Arrival {
        // Who comes later passes those of its own lane only by urgency, and those of others never: they
        // wait because their lane is full, or everything is.
        if fits(lane), lanes[lane]?.isEmpty ?? true {
            take(lane)
            return .enters
        }
        if let most = limits.waiting, waiting >= most { return .refused }
        lanes[lane, default: WaitingLine()].insert(ticket, priority: priority)
        laneOfTicket[ticket] = lane
        return .waits
    }

    /// Gives a place back.
    package mutating func leave(_ lane: Lane) {
        total -= 1
        Self.decrement(&hosts, lane.host)
        if let tag = lane.tag { Self.decrement(&tags, tag) }
    }

    /// Forgets who waits; false when he does not.
    package mutating func cancel(_ ticket: UInt64) -> Bool {
        guard let lane = laneOfTicket.removeValue(forKey: ticket) else { return false }
        lanes[lane]?.remove(ticket)
        if lanes[lane]?.isEmpty ?? true { lanes[lane] = nil }
        return true
    }

    package mutating func setPriority(_ priority: RequestPriority, of ticket: UInt64) {
        guard let lane = laneOfTicket[ticket] else { return }
        lanes[lane]?.setPriority(priority, of: ticket)
    }

    /// The next who gets a place; the caller asks until nobody does.
    package mutating func admit() -> UInt64? {
        guard !laneOfTicket.isEmpty, !isFull else { return nil }
        var best: (lane: Lane, rank: (rank: Int64, ticket: UInt64))?
        for (lane, line) in lanes where fits(lane) {
            guard let rank = line.firstRank else { continue }
            if let present = best, present.rank < rank { continue }
            best = (lane, rank)
        }
        guard let lane = best?.lane, let ticket = lanes[lane]?.popFirst() else { return nil }
        if lanes[lane]?.isEmpty ?? true { lanes[lane] = nil }
        laneOfTicket[ticket] = nil
        take(lane)
        return ticket
    }

    private var isFull: Bool { limits.total.map { total >= $0 } ?? false }

    private func fits(_ lane: Lane) -> Bool {
        if isFull { return false }
        if let most = limits.perHost, hosts[lane.host, default: 0] >= most { return false }
        guard let tag = lane.tag, let most = limits.perTag[tag] else { return true }
        return tags[tag, default: 0] < most
    }

    private mutating func take(_ lane: Lane) {
        total += 1
        hosts[lane.host, default: 0] += 1
        if let tag = lane.tag { tags[tag, default: 0] += 1 }
    }

    private static func decrement<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
