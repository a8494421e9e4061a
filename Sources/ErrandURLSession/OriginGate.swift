/// How many transfers to one origin are under way, and who waits for a place: first come, first served.
///
/// NB: FoundationNetworking counts a request's timeout while it queues for a connection, so tasks are
/// started only when there is one for them.
struct OriginGate {
    private let limit: Int
    private var active: [String: Int] = [:]
    private var waiting: [String: [ObjectIdentifier]] = [:]

    /// - Parameter limit: How many may be under way to one origin; 0 or less has no limit.
    init(limit: Int) { self.limit = limit }

    /// Nobody is under way and nobody waits.
    var isEmpty: Bool { active.isEmpty && waiting.isEmpty }

    /// Whether there is a place now; otherwise the transfer is put in the queue.
    mutating func enter(_ origin: String, _ id: ObjectIdentifier) -> Bool {
        let count = active[origin, default: 0]
        if limit > 0, count >= limit {
            waiting[origin, default: []].append(id)
            return false
        }
        active[origin] = count + 1
        return true
    }

    /// Gives a place back, or hands it to the next in the queue, who is returned.
    mutating func leave(_ origin: String) -> ObjectIdentifier? {
        if var queue = waiting[origin], !queue.isEmpty {
            let next = queue.removeFirst()
            waiting[origin] = queue.isEmpty ? nil : queue
            return next
        }
        let count = active[origin, default: 1] - 1
        active[origin] = count > 0 ? count : nil
        return nil
    }

    /// Takes somebody out of the queue; false when they are not in it.
    mutating func giveUp(_ origin: String, _ id: ObjectIdentifier) -> Bool {
        guard let index = waiting[origin]?.firstIndex(of: id) else { return false }
        waiting[origin]?.remove(at: index)
        if waiting[origin]?.isEmpty == true { waiting[origin] = nil }
        return true
    }
}
