import ErrandTransport

/// The latest requests of a transport, up to a limit, and the number of all requests.
///
/// A ring buffer, so that adding a request costs the same with every limit.
struct RecordedRequests: Sendable {
    /// The default of ``limit``.
    static let defaultLimit = 1000

    /// The number of all requests that were added.
    private(set) var total = 0
    /// The maximum number of kept requests, at least 1; a lower one releases the oldest requests.
    var limit = Self.defaultLimit {
        didSet {
            limit = max(1, limit)
            ring = Array(latest.suffix(limit))
            oldest = 0
        }
    }
    /// The kept requests; the oldest is at the index ``oldest``.
    private var ring: [TransportRequest] = []
    /// 0 until the ring is full.
    private var oldest = 0
    /// The number of requests that ``takeNext()`` has returned or skipped.
    private var taken = 0

    /// The kept requests, in the order in which they were added.
    var latest: [TransportRequest] { Array(ring[oldest...] + ring[..<oldest]) }

    mutating func add(_ request: TransportRequest) {
        total += 1
        if ring.count < limit {
            ring.append(request)
        } else {
            ring[oldest] = request
            oldest = (oldest + 1) % limit
        }
    }

    /// Returns the oldest kept request that this method has not returned yet.
    mutating func takeNext() -> TransportRequest? {
        let released = total - ring.count
        let next = max(taken, released)
        guard next < total else { return nil }
        taken = next + 1
        return ring[(oldest + next - released) % ring.count]
    }
}
