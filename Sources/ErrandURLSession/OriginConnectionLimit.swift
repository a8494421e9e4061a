/// Limits the number of active transfers to each origin.
///
/// Waiting transfers are admitted in order of arrival.
///
/// FoundationNetworking (Swift 6.3.1) counts a request's timeout while the request waits for a connection, so
/// a task is started only when a connection is available.
struct OriginConnectionLimit {
    private let limit: Int
    private var active: [String: Int] = [:]
    private var waiting: [String: [ObjectIdentifier]] = [:]

    /// Creates a limit.
    ///
    /// - Parameter limit: The maximum number of active transfers to one origin; 0 or less means no limit.
    init(limit: Int) { self.limit = limit }

    /// Whether no transfer is active or waiting.
    var isEmpty: Bool { active.isEmpty && waiting.isEmpty }

    /// Admits the transfer and returns true, or adds it to the origin's queue and returns false.
    mutating func acquire(_ origin: String, _ id: ObjectIdentifier) -> Bool {
        let count = active[origin, default: 0]
        if limit > 0, count >= limit {
            waiting[origin, default: []].append(id)
            return false
        }
        active[origin] = count + 1
        return true
    }

    /// Ends an admission.
    ///
    /// If a transfer waits for the origin, admits the first one and returns it.
    mutating func release(_ origin: String) -> ObjectIdentifier? {
        if var queue = waiting[origin], !queue.isEmpty {
            let next = queue.removeFirst()
            waiting[origin] = queue.isEmpty ? nil : queue
            return next
        }
        let count = active[origin, default: 1] - 1
        active[origin] = count > 0 ? count : nil
        return nil
    }

    /// Removes a waiting transfer from the queue; returns false if it is not in it.
    mutating func removeWaiter(_ origin: String, _ id: ObjectIdentifier) -> Bool {
        guard let index = waiting[origin]?.firstIndex(of: id) else { return false }
        waiting[origin]?.remove(at: index)
        if waiting[origin]?.isEmpty == true { waiting[origin] = nil }
        return true
    }
}
