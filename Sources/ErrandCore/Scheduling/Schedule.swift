/// Who is under way and who waits: the whole of scheduling without effects.
///
/// Requests of one host and one limited tag stand in one lane. Every operation is O(log n) in requests and in
/// hosts, and linear in the limited tags, which somebody wrote down one by one.
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

    private typealias Lanes = RankedHeap<Lane, WaitingRank>

    private var limits = RequestLimits()
    private var total = 0
    private var hosts: [String: Int] = [:]
    private var tags: [Int: Int] = [:]
    /// The lanes in which somebody waits.
    private var lanes: [Lane: WaitingLine] = [:]
    private var lanesOfHost: [String: Set<Lane>] = [:]
    /// Those of them whose host has a place, by tag: the candidates, the most urgent of each tag first.
    private var open: [Int?: Lanes] = [:]
    private var laneOfTicket: [UInt64: Lane] = [:]

    package init() {}

    package var waiting: Int { laneOfTicket.count }
    package var underWay: Int { total }
    package func isWaiting(_ ticket: UInt64) -> Bool { laneOfTicket[ticket] != nil }

    /// Takes up other limits; what fits now is returned by the next ``admit()``.
    package mutating func use(_ limits: RequestLimits) {
        guard limits != self.limits else { return }
        self.limits = limits
        for lane in lanes.keys { settle(lane) }
    }

    /// Somebody wants a place.
    ///
    /// - Parameter hadPlace: Whether the ticket gave one back to pause: then it is not refused.
    package mutating func arrive(
        _ ticket: UInt64, lane: Lane, priority: RequestPriority, hadPlace: Bool = false
    ) -> Arrival {
        // Who comes later passes those of its own lane only by urgency, and those of others never: they
        // wait because their lane is full, or everything is.
        if fits(lane), lanes[lane] == nil {
            take(lane)
            return .enters
        }
        if !hadPlace, let most = limits.waiting, waiting >= most { return .refused }
        lanes[lane, default: WaitingLine()].insert(ticket, priority: priority)
        lanesOfHost[lane.host, default: []].insert(lane)
        laneOfTicket[ticket] = lane
        settle(lane)
        return .waits
    }

    /// Gives a place back.
    package mutating func leave(_ lane: Lane) {
        total -= 1
        if let tag = lane.tag { Self.decrement(&tags, tag) }
        change(lane.host) { Self.decrement(&$0, lane.host) }
    }

    /// Forgets who waits; false when he does not.
    package mutating func cancel(_ ticket: UInt64) -> Bool {
        guard let lane = laneOfTicket.removeValue(forKey: ticket) else { return false }
        lanes[lane]?.remove(ticket)
        settle(lane)
        return true
    }

    package mutating func setPriority(_ priority: RequestPriority, of ticket: UInt64) {
        guard let lane = laneOfTicket[ticket] else { return }
        lanes[lane]?.setPriority(priority, of: ticket)
        settle(lane)
    }

    /// The next who gets a place; the caller asks until nobody does.
    package mutating func admit() -> UInt64? {
        guard !laneOfTicket.isEmpty, !isFull else { return nil }
        var best: (key: Lane, rank: WaitingRank)?
        for (tag, lanes) in open where hasRoom(tag: tag) {
            guard let first = lanes.first else { continue }
            if let present = best, present.rank < first.rank { continue }
            best = first
        }
        guard let lane = best?.key, let ticket = lanes[lane]?.popFirst() else { return nil }
        laneOfTicket[ticket] = nil
        settle(lane)
        take(lane)
        return ticket
    }

    private var isFull: Bool { limits.total.map { total >= $0 } ?? false }

    private func fits(_ lane: Lane) -> Bool {
        !isFull && hasRoom(host: lane.host) && hasRoom(tag: lane.tag)
    }

    private func hasRoom(host: String) -> Bool {
        limits.perHost.map { hosts[host, default: 0] < $0 } ?? true
    }

    private func hasRoom(tag: Int?) -> Bool {
        guard let tag, let most = limits.perTag[tag] else { return true }
        return tags[tag, default: 0] < most
    }

    private mutating func take(_ lane: Lane) {
        total += 1
        if let tag = lane.tag { tags[tag, default: 0] += 1 }
        change(lane.host) { $0[lane.host, default: 0] += 1 }
    }

    /// Changes how many of a host are under way; where that fills or frees it, its lanes come and go.
    private mutating func change(_ host: String, _ change: (inout [String: Int]) -> Void) {
        let hadRoom = hasRoom(host: host)
        change(&hosts)
        guard hasRoom(host: host) != hadRoom, let lanes = lanesOfHost[host] else { return }
        for lane in lanes { settle(lane) }
    }

    /// Puts a lane among the candidates, where its first ticket belongs, or takes it out from there.
    private mutating func settle(_ lane: Lane) {
        let first = lanes[lane]?.firstRank
        if first == nil {
            lanes[lane] = nil
            lanesOfHost[lane.host]?.remove(lane)
            if lanesOfHost[lane.host]?.isEmpty == true { lanesOfHost[lane.host] = nil }
        }
        if let first, hasRoom(host: lane.host) {
            open[lane.tag, default: Lanes()].set(first, for: lane)
        } else {
            open[lane.tag]?.remove(lane)
            if open[lane.tag]?.isEmpty == true { open[lane.tag] = nil }
        }
    }

    private static func decrement<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
