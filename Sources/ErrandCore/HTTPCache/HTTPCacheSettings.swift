/// What a cache by RFC 9111 may guess where the server says nothing.
///
///     configuration.cachePolicy = .http
///     configuration.httpCache.heuristicFraction = 0.2          // RBEFireworks's guess, row CAC-22
///     configuration.httpCache.lifetimeWithoutHeaders = .seconds(180)
public struct HTTPCacheSettings: Sendable, Hashable {
    /// Which part of the time since `Last-Modified` an answer without `max-age` and `Expires` is fresh (RFC 9111
    /// §4.2.2).
    ///
    /// Default a tenth; 0 guesses nothing.
    public var heuristicFraction = 0.1
    /// The longest guess.
    ///
    /// Default one day, since nobody asked for more.
    public var heuristicLimit = Duration.seconds(86400)
    /// How long an answer is fresh that has neither `max-age` nor `Expires` nor `Last-Modified`.
    ///
    /// Default zero: it is asked for again.
    public var lifetimeWithoutHeaders = Duration.zero
    /// For how long beyond its time a stored answer stands in when the network or the server fails, also where the
    /// server allows nothing of that kind.
    ///
    /// Default zero: only `stale-if-error` allows it (RFC 5861 §4). What says `no-cache` or `must-revalidate` is
    /// never used so.
    public var staleIfError = Duration.zero

    /// Makes settings that guess as browsers do.
    public init() {}
}
