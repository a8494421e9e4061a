/// The `https` origins whose last connection has negotiated HTTP/1.1 although HTTP/2 was offered
/// (RFC 7301), as a pure value.
///
/// The engine carries their requests. An entry expires, so that a server that begins to speak HTTP/2
/// is noticed.
struct LearnedOrigins {
    /// The maximum number of origins.
    static let limit = 1024
    /// The time after which the protocol of an origin is negotiated again, in nanoseconds.
    static let lifetime: UInt64 = 600_000_000_000

    private var expiries: [ConnectionKey.Host: MonotonicTime] = [:]

    /// Records the protocol that a new connection has negotiated.
    mutating func negotiated(
        _ origin: ConnectionKey.Host, isHTTP11: Bool, at now: MonotonicTime
    ) {
        guard isHTTP11 else {
            if !expiries.isEmpty { expiries[origin] = nil }
            return
        }
        if expiries.count >= Self.limit, expiries[origin] == nil {
            expiries = expiries.filter { $0.value > now }
            if expiries.count >= Self.limit { expiries.removeAll() }
        }
        expiries[origin] = now.advanced(nanoseconds: Self.lifetime)
    }

    /// Whether the origin has negotiated HTTP/1.1 recently.
    func haveHTTP11(_ origin: ConnectionKey.Host, at now: MonotonicTime) -> Bool {
        expiries[origin].map { $0 > now } ?? false
    }

    var isEmpty: Bool { expiries.isEmpty }
}
