package import ErrandSystem
package import HTTPTypes

/// Decides whether a stored response is fresh, may be used stale, or needs revalidation (RFC 9111
/// §4.2, §4.3, §5.2; RFC 5861); pure.
package enum CacheStrategy: Sendable, Hashable {
    /// The stored response is fresh and is used.
    case fresh(age: Duration)
    /// The stored response is stale and is used, because the request accepts that (`max-stale`).
    case stale(age: Duration)
    /// The stored response is stale; it is used now and revalidated in the background.
    case staleWhileRevalidate(age: Duration)
    /// The stored response may be used only after successful revalidation.
    case revalidate

    /// Whether the stored response is fresh.
    package var isFresh: Bool {
        if case .fresh = self { return true }
        return false
    }

    /// Decides how a stored response may be used for a request.
    package static func decide(
        _ entry: StoredResponse, requestHeaders: HTTPFields, now: Date,
        settings: CachePolicy.HTTPSettings
    ) -> CacheStrategy {
        decide(
            entry, CacheControl(entry.headers), RequestCacheControl(requestHeaders), now: now,
            settings: settings)
    }

    /// Decides how a stored response may be used for a request.
    ///
    /// - Parameters:
    ///   - control: The directives of the stored response.
    ///   - asked: The directives of the request.
    package static func decide(
        _ entry: StoredResponse, _ control: CacheControl, _ asked: RequestCacheControl, now: Date,
        settings: CachePolicy.HTTPSettings
    ) -> CacheStrategy {
        if control.requiresRevalidation || asked.wantsRevalidation { return .revalidate }
        let (age, lifetime) = measures(entry, control, now: now, settings: settings)
        guard age.isFinite else { return .revalidate }
        let staleness = age - lifetime
        let isYoungEnough = asked.maxAge.map { age <= Double($0) } ?? true
        let isFreshEnough = asked.minFresh.map { -staleness >= Double($0) } ?? true
        guard isYoungEnough, isFreshEnough else { return .revalidate }
        if staleness < 0 { return .fresh(age: .seconds(age)) }
        if control.has(.mustRevalidate) { return .revalidate }
        if asked.acceptsStale(by: staleness) { return .stale(age: .seconds(age)) }
        if case .number(let extra) = control.seconds(.staleWhileRevalidate),
            staleness <= Double(extra), asked.hasNoAgeLimit
        {
            return .staleWhileRevalidate(age: .seconds(age))
        }
        return .revalidate
    }

    /// The age of a stored response that may be used after an error (`stale-if-error`, RFC 5861
    /// §4); `nil` if it may not be used.
    package static func ageForStaleIfError(
        _ entry: StoredResponse, requestHeaders: HTTPFields, now: Date,
        settings: CachePolicy.HTTPSettings
    ) -> Duration? {
        guard
            let (age, lifetime) = staleMeasures(
                entry, requestHeaders: requestHeaders, now: now, settings: settings)
        else { return nil }
        var allowed = settings.staleIfError.wholeSeconds
        for control in [CacheControl(entry.headers), CacheControl(requestHeaders)] {
            if case .number(let seconds) = control.seconds(.staleIfError) {
                allowed = max(allowed, Double(seconds))
            }
        }
        return age - lifetime <= allowed && (allowed > 0 || age < lifetime) ? .seconds(age) : nil
    }

    /// The age and the lifetime of a stored response in seconds; `nil` if it may not be used stale
    /// (RFC 9111 §4.2.4): because it has `no-cache` or `must-revalidate`, or because the request asks
    /// for revalidation.
    package static func staleMeasures(
        _ entry: StoredResponse, requestHeaders: HTTPFields, now: Date,
        settings: CachePolicy.HTTPSettings
    ) -> (age: Double, lifetime: Double)? {
        let control = CacheControl(entry.headers)
        guard !control.requiresRevalidation, !control.has(.mustRevalidate),
            !RequestCacheControl(requestHeaders).wantsRevalidation
        else { return nil }
        let measures = measures(entry, control, now: now, settings: settings)
        return measures.age.isFinite ? measures : nil
    }

    private static func measures(
        _ entry: StoredResponse, _ control: CacheControl, now: Date,
        settings: CachePolicy.HTTPSettings
    ) -> (age: Double, lifetime: Double) {
        let (age, lifetime) = entry.measures(control, now: now, settings: settings)
        return (age < 1e15 ? age : .infinity, lifetime)
    }
}

extension StoredResponse {
    /// The age and the freshness lifetime in seconds (RFC 9111 §4.2).
    fileprivate func measures(
        _ control: CacheControl, now: Date, settings: CachePolicy.HTTPSettings
    ) -> (age: Double, lifetime: Double) {
        let age = CacheLifetime.age(
            headers: headers, requestedAt: storedAt, receivedAt: storedAt, now: now)
        let lifetime = CacheLifetime.seconds(
            status: status, headers: headers, control, receivedAt: storedAt, settings: settings)
        return (age, lifetime)
    }

    /// Sets ``expiresAt`` for ``CachePolicy/http``: the time of storing, plus the freshness lifetime,
    /// minus the age at the time of storing (RFC 9111 §4.2).
    package mutating func setExpiry(_ settings: CachePolicy.HTTPSettings) {
        let control = CacheControl(headers)
        let (age, lifetime) = measures(control, now: storedAt, settings: settings)
        expiresAt = control.requiresRevalidation ? storedAt : storedAt + (lifetime - age)
    }
}

extension Duration {
    fileprivate var wholeSeconds: Double { Double(components.seconds) }
}
