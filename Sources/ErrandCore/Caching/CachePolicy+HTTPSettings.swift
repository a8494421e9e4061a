extension CachePolicy {
    /// The heuristics of ``CachePolicy/http`` for responses without explicit cache headers.
    ///
    ///     configuration.cachePolicy = .http
    ///     configuration.httpCache.heuristicFraction = 0.2
    ///     configuration.httpCache.lifetimeWithoutHeaders = .seconds(180)
    ///
    /// A negative time, or a fraction that is negative or not a finite number, fails requests with
    /// ``RequestError/Code/invalidConfiguration``.
    public struct HTTPSettings: Sendable, Hashable {
        /// The lifetime of a response without `max-age` and `Expires`, as a fraction of the time since
        /// its `Last-Modified` (RFC 9111 §4.2.2).
        ///
        /// Default 0.1. With 0 such responses are stale at once.
        public var heuristicFraction = 0.1
        /// The maximum of the lifetime by ``heuristicFraction``.
        ///
        /// Default one day.
        public var heuristicLimit = Duration.seconds(86400)
        /// The lifetime of a response without `max-age`, `Expires` and `Last-Modified`.
        ///
        /// Default zero: it is stale at once.
        public var lifetimeWithoutHeaders = Duration.zero
        /// How long a stale response may be used after the network or the server has failed, even if
        /// the server did not send `stale-if-error`.
        ///
        /// Default zero: only `stale-if-error` allows it (RFC 5861 §4). Responses with `no-cache` or
        /// `must-revalidate` are never used stale.
        public var staleIfError = Duration.zero

        /// Creates settings with the defaults, which correspond to the heuristics of browsers.
        public init() {}

        /// Describes an invalid value; `nil` if all are valid.
        package var fault: String? {
            if !heuristicFraction.isFinite || heuristicFraction < 0 {
                return
                    "httpCache.heuristicFraction is \(heuristicFraction). Set a finite number of 0 or more."
            }
            let isNegative =
                heuristicLimit < .zero || lifetimeWithoutHeaders < .zero || staleIfError < .zero
            return isNegative ? "A time of httpCache is negative. Set zero or more." : nil
        }
    }
}
