import ErrandHTTP

/// The running and waiting requests under ``RequestLimits``; pure.
///
/// Requests with the same host and the same limited tag form a lane. Every operation is O(log n) in requests and
/// hosts, and linear in the number of limited tags.
package struct ConcurrencyLimiterState: Sendable {
    /// The limits that a request counts against.
    package struct Lane: Sendable, Hashable {
        package var host: String
        /// The tag if it has a limit, otherwise `nil`.
        package var tag: Int?

        package init(host: String, tag: Int?) {
            self.host = host
            self.tag = tag
        }
    }

    /// The reason for which a ticket waits.
    package enum Obstacle: Sendable, Hashable {
        /// All permits of ``RequestLimits/total`` are taken.
        case total(Int)
        /// All permits of the host are taken.
        case host(String, Int)
        /// All permits of the tag are taken.
        case tag(Int, Int)
        /// A ticket that is more urgent, or arrived earlier, is admitted first.
        case others
    }

    package enum Arrival: Sendable, Equatable { case enters, waits, refused }

    private typealias Lanes = IndexedHeap<Lane, WaitRank>

    private var limits = RequestLimits()
    private var total = 0
    private var hosts: [String: Int] = [:]
    private var tags: [Int: Int] = [:]
    /// The lanes with waiting requests.
    private var lanes: [Lane: WaitQueue] = [:]
    private var lanesOfHost: [String: Set<Lane>] = [:]
    /// The lanes that ``admit()`` chooses from: those whose host has room, by tag, the most urgent first.
    private var candidates: [Int?: Lanes] = [:]
    private var laneOfTicket: [UInt64: Lane] = [:]

    package init() {}

    package var waiting: Int { laneOfTicket.count }
    package var underWay: Int { total }
    package func isWaiting(_ ticket: UInt64) -> Bool { laneOfTicket[ticket] != nil }

    /// Sets new limits; ``admit()`` then returns the tickets that fit.
    package mutating func use(_ limits: RequestLimits) {
        guard limits != self.limits else { return }
        self.limits = limits
        for lane in lanes.keys { settle(lane) }
    }

    /// Takes a permit for a ticket, or queues the ticket.
    ///
    /// - Parameter hadPermit: Whether the ticket released a permit to pause; then it is never refused.
    package mutating func arrive(
        _ ticket: UInt64, lane: Lane, priority: RequestPriority, hadPermit: Bool = false
    ) -> Arrival {
        // A new ticket does not overtake others: its lane is empty, and the tickets of other lanes wait because
        // their host or tag is full.
        if fits(lane), lanes[lane] == nil {
            take(lane)
            return .enters
        }
        if !hadPermit, let most = limits.waiting, waiting >= most { return .refused }
        lanes[lane, default: WaitQueue()].insert(ticket, priority: priority)
        lanesOfHost[lane.host, default: []].insert(lane)
        laneOfTicket[ticket] = lane
        settle(lane)
        return .waits
    }

    /// Releases a permit.
    package mutating func leave(_ lane: Lane) {
        total -= 1
        if let tag = lane.tag { Self.decrement(&tags, tag) }
        change(lane.host) { Self.decrement(&$0, lane.host) }
    }

    /// Removes a waiting ticket; false if it does not wait.
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

    /// Why a ticket waits; `nil` if it does not wait.
    package func obstacle(of ticket: UInt64) -> Obstacle? {
        guard let lane = laneOfTicket[ticket] else { return nil }
        if let total = limits.total, isFull { return .total(total) }
        if let most = limits.perHost, !hasRoom(host: lane.host) { return .host(lane.host, most) }
        if let tag = lane.tag, let most = limits.perTag[tag], !hasRoom(tag: tag) {
            return .tag(tag, most)
        }
        return .others
    }

    /// Takes a permit for the most urgent waiting ticket that fits; `nil` if none does.
    package mutating func admit() -> UInt64? {
        guard !laneOfTicket.isEmpty, !isFull else { return nil }
        var best: (key: Lane, rank: WaitRank)?
        for (tag, lanes) in candidates where hasRoom(tag: tag) {
            guard let first = lanes.first else { continue }
            if let current = best, current.rank < first.rank { continue }
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

    /// Changes the count of a host, and updates its lanes if the host becomes full or gets room.
    private mutating func change(_ host: String, _ change: (inout [String: Int]) -> Void) {
        let hadRoom = hasRoom(host: host)
        change(&hosts)
        guard hasRoom(host: host) != hadRoom, let lanes = lanesOfHost[host] else { return }
        for lane in lanes { settle(lane) }
    }

    /// Adds a lane to the candidates, updates its rank, or removes it.
    private mutating func settle(_ lane: Lane) {
        let first = lanes[lane]?.firstRank
        if first == nil {
            lanes[lane] = nil
            lanesOfHost[lane.host]?.remove(lane)
            if lanesOfHost[lane.host]?.isEmpty == true { lanesOfHost[lane.host] = nil }
        }
        if let first, hasRoom(host: lane.host) {
            candidates[lane.tag, default: Lanes()].set(first, for: lane)
        } else {
            candidates[lane.tag]?.remove(lane)
            if candidates[lane.tag]?.isEmpty == true { candidates[lane.tag] = nil }
        }
    }

    private static func decrement<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
