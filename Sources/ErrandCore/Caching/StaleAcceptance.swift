package import ErrandSystem
package import HTTPTypes

/// The staleness of stored responses that a lookup without the network accepts; pure.
package enum StaleAcceptance: Sendable, Hashable {
    /// Responses that are stale by at most this time; zero accepts fresh ones only.
    case within(Duration)
    /// Responses of any age.
    case anyAge

    /// Whether a response is accepted that is stale by a number of seconds; fresh ones are.
    package func accepts(staleness: Double) -> Bool {
        switch self {
        case .anyAge: return true
        case .within(let limit):
            let (seconds, attoseconds) = limit.components
            return staleness <= Double(seconds) + Double(attoseconds) * 1e-18
        }
    }

    /// The age at which ``CachePolicy/http`` may use a stale response without the network; `nil` if it may not.
    ///
    /// A response with `no-cache` or `must-revalidate` is not used stale (RFC 9111 §4.2.4), nor is any
    /// by a request with `no-cache`.
    package func age(
        of entry: StoredResponse, requestHeaders: HTTPFields, now: Date,
        settings: CachePolicy.HTTPSettings
    ) -> Duration? {
        guard
            let (age, lifetime) = CacheStrategy.staleMeasures(
                entry, requestHeaders: requestHeaders, now: now, settings: settings),
            accepts(staleness: age - lifetime)
        else { return nil }
        return .seconds(age)
    }
}
