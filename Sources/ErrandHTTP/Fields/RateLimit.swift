/// A limit of the request rate per host, as a token bucket that refills at a constant rate.
///
///     configuration.rateLimit = RateLimit(requests: 10, per: .seconds(1), burst: 20)
public struct RateLimit: Sendable, Hashable {
    /// The number of requests per period, on average over time.
    public var requests: Int
    /// The period.
    public var per: Duration
    /// The maximum number of requests at once, when the bucket is full.
    public var burst: Int

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - requests: The number of requests per period; at least 1.
    ///   - per: The period.
    ///   - burst: The maximum number of requests at once; `nil`, the default, is the value of `requests`.
    public init(requests: Int, per: Duration, burst: Int? = nil) {
        self.requests = requests
        self.per = per
        self.burst = burst ?? requests
    }

    package var isValid: Bool { requests >= 1 && burst >= 1 && per > .zero }

    /// The time in which the bucket gains this number of tokens, limited so that arithmetic cannot overflow.
    package func time(for tokens: Double) -> Duration {
        (per.clamped / Double(requests) * max(0, min(tokens, 1e9))).clamped
    }
}
