package import Foundation
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
        settings: HTTPCacheSettings
    ) -> Duration? {
        let control = CacheControl(entry.headers)
        guard !control.requiresRevalidation, !control.has("must-revalidate"),
            !RequestCacheControl(requestHeaders).wantsRevalidation
        else { return nil }
        let age = CacheLifetime.age(
            headers: entry.headers, requestedAt: entry.storedAt, receivedAt: entry.storedAt,
            now: now)
        let lifetime = CacheLifetime.seconds(
            status: entry.status, headers: entry.headers, receivedAt: entry.storedAt,
            settings: settings)
        guard age < 1e15, accepts(staleness: age - lifetime) else { return nil }
        return .seconds(age)
    }
}

extension StoredResponse {
    /// Sets ``expiresAt`` for ``CachePolicy/http``: the time of storing, plus the freshness lifetime,
    /// minus the age at the time of storing (RFC 9111 §4.2).
    package mutating func setExpiry(_ settings: HTTPCacheSettings) {
        let age = CacheLifetime.age(
            headers: headers, requestedAt: storedAt, receivedAt: storedAt, now: storedAt)
        let lifetime = CacheLifetime.seconds(
            status: status, headers: headers, receivedAt: storedAt, settings: settings)
        expiresAt =
            CacheControl(headers).requiresRevalidation ? storedAt : storedAt + (lifetime - age)
    }
}
