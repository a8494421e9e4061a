package import ErrandSystem
package import HTTPTypes

/// Calculates the freshness lifetime and the age of a response (RFC 9111 §4.2); pure.
package enum CacheLifetime {
    /// The freshness lifetime of a response, in seconds (§4.2.1).
    ///
    /// From `max-age`, otherwise from `Expires`, otherwise heuristic. `s-maxage` is ignored,
    /// because it applies to shared caches.
    ///
    /// - Parameters:
    ///   - control: The directives of the headers, if they are known already.
    ///   - receivedAt: When the response was received; replaces a `Date` that is missing or
    ///     invalid (RFC 9110 §6.6.1).
    package static func seconds(
        status: Int, headers: HTTPFields, _ control: CacheControl? = nil, receivedAt: Date,
        settings: CachePolicy.HTTPSettings
    ) -> Double {
        let control = control ?? CacheControl(headers)
        switch control.seconds(.maxAge) {
        case .number(let seconds): return Double(seconds)
        case .invalid: return 0
        case .absent: break
        }
        let date = date(headers, receivedAt: receivedAt)
        if let expires = headers.first(named: .expires)?.value {
            // An invalid date, such as 0, means already expired (§5.3).
            guard HTTPDate.isWellFormed(expires),
                let end = HTTPDate.parse(expires, now: receivedAt, ignoresCase: true)
            else { return 0 }
            return max(0, end.timeIntervalSince(date))
        }
        guard allowsHeuristic(status: status, control) else { return 0 }
        return heuristicLifetime(headers, date: date, settings)
    }

    /// The current age of a response, in seconds (§4.2.3).
    ///
    /// Infinite if `receivedAt` lies in the future.
    ///
    /// - Parameters:
    ///   - requestedAt: When the request was sent.
    ///   - receivedAt: When the response was received.
    package static func age(
        headers: HTTPFields, requestedAt: Date, receivedAt: Date, now: Date
    ) -> Double {
        let apparent = max(
            0, receivedAt.timeIntervalSince(date(headers, receivedAt: receivedAt)))
        let delay = max(0, receivedAt.timeIntervalSince(requestedAt))
        // The first member of a list is used, and an invalid value is ignored (§5.1).
        let field = headers.first(named: .age).flatMap { field in
            ListElements(field.value).first(where: { _ in true })
        }
        let said = Double(field.flatMap { CacheControl.deltaSeconds($0) } ?? 0)
        let resident = now.timeIntervalSince(receivedAt)
        // The clock was set back since, so the age is unknown and the response must not be fresh.
        guard resident >= 0 else { return .infinity }
        return max(apparent, said + delay) + resident
    }

    /// The heuristically cacheable statuses (RFC 9110 §15.1), without 206, which is never stored.
    package static let heuristicStatuses: Set<Int> = [
        200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
    ]

    private static func allowsHeuristic(status: Int, _ control: CacheControl) -> Bool {
        heuristicStatuses.contains(status) || control.has(.public)
    }

    /// The heuristic lifetime (§4.2.2): a fraction of the time since `Last-Modified`, or the
    /// lifetime that the settings give to responses without it.
    private static func heuristicLifetime(
        _ headers: HTTPFields, date: Date, _ settings: CachePolicy.HTTPSettings
    ) -> Double {
        guard let text = headers.first(named: .lastModified)?.value,
            let modified = HTTPDate.parse(text, now: date, ignoresCase: true)
        else { return settings.lifetimeWithoutHeaders.secondsAsDouble }
        let unchanged = max(0, date.timeIntervalSince(modified))
        return min(
            unchanged * settings.heuristicFraction, settings.heuristicLimit.secondsAsDouble)
    }

    private static func date(_ headers: HTTPFields, receivedAt: Date) -> Date {
        headers.first(named: .date).flatMap { field in
            HTTPDate.parse(field.value, now: receivedAt, ignoresCase: true)
        } ?? receivedAt
    }
}

extension Duration {
    /// In seconds; never negative.
    fileprivate var secondsAsDouble: Double {
        max(0, Double(components.seconds) + Double(components.attoseconds) * 1e-18)
    }
}
