/// The origins whose servers have required HTTP/1.1 for a request over HTTP/2 (RFC 9113 §7,
/// HTTP_1_1_REQUIRED), as a pure value.
///
/// An entry expires, so that a server that begins to accept HTTP/2 is noticed.
struct HTTP11Origins {
    /// The maximum number of origins.
    static let limit = 1024
    /// The time after which HTTP/2 is offered again, in nanoseconds.
    static let lifetime: UInt64 = 600_000_000_000

    private var expiries: [ConnectionKey.Host: MonotonicTime] = [:]

    /// Records that a server requires HTTP/1.1.
    mutating func insert(_ origin: ConnectionKey.Host, at now: MonotonicTime) {
        if expiries.count >= Self.limit, expiries[origin] == nil {
            expiries = expiries.filter { $0.value > now }
            if expiries.count >= Self.limit { expiries.removeAll() }
        }
        expiries[origin] = now.advanced(nanoseconds: Self.lifetime)
    }

    /// Whether the server of an origin has required HTTP/1.1 recently.
    func contains(_ origin: ConnectionKey.Host, at now: MonotonicTime) -> Bool {
        expiries[origin].map { $0 > now } ?? false
    }

    var isEmpty: Bool { expiries.isEmpty }
}
