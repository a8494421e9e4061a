package import Foundation
package import HTTPTypes

/// What a stored answer is good for: RFC 9111 §4.2 to §4.3 and §5.2, RFC 5861; pure.
package enum HTTPReuse: Sendable, Hashable {
    /// It answers.
    case fresh(age: Duration)
    /// It is out of date and answers all the same: the request takes that.
    case stale(age: Duration)
    /// It answers, and is renewed behind the answer's back.
    case staleWhileRevalidate(age: Duration)
    /// It answers once the server says that it is still valid.
    case revalidate

    /// Whether it answers without a word.
    package var isFresh: Bool {
        if case .fresh = self { return true }
        return false
    }

    package static func decide(
        _ entry: StoredResponse, requestHeaders: HTTPFields, now: Date,
        settings: HTTPCacheSettings
    ) -> HTTPReuse {
        let asked = RequestCacheControl(requestHeaders)
        let control = CacheControl(entry.headers)
        if control.has("no-cache") || asked.wantsRevalidation { return .revalidate }
        let (age, lifetime) = measures(entry, now: now, settings: settings)
        guard age.isFinite else { return .revalidate }
        let staleness = age - lifetime
        let isYoungEnough = asked.maxAge.map { age <= Double($0) } ?? true
        let isFreshEnough = asked.minFresh.map { -staleness >= Double($0) } ?? true
        guard isYoungEnough, isFreshEnough else { return .revalidate }
        if staleness < 0 { return .fresh(age: .seconds(age)) }
        if control.has("must-revalidate") { return .revalidate }
        if asked.takesStale(by: staleness) { return .stale(age: .seconds(age)) }
        if case .number(let extra) = control.seconds("stale-while-revalidate"),
            staleness <= Double(extra), asked.isIndifferent
        {
            return .staleWhileRevalidate(age: .seconds(age))
        }
        return .revalidate
    }

    /// The age of an answer that may stand in for a failure; `nil` where none may.
    package static func ageInPlaceOfError(
        _ entry: StoredResponse, requestHeaders: HTTPFields, now: Date,
        settings: HTTPCacheSettings
    ) -> Duration? {
        let control = CacheControl(entry.headers)
        guard !control.has("no-cache"), !control.has("must-revalidate"),
            !RequestCacheControl(requestHeaders).wantsRevalidation
        else { return nil }
        let (age, lifetime) = measures(entry, now: now, settings: settings)
        guard age.isFinite else { return nil }
        var allowed = settings.staleIfError.wholeSeconds
        for control in [control, CacheControl(requestHeaders)] {
            if case .number(let seconds) = control.seconds("stale-if-error") {
                allowed = max(allowed, Double(seconds))
            }
        }
        return age - lifetime <= allowed && (allowed > 0 || age < lifetime) ? .seconds(age) : nil
    }

    private static func measures(
        _ entry: StoredResponse, now: Date, settings: HTTPCacheSettings
    ) -> (age: Double, lifetime: Double) {
        let age = CacheLifetime.age(
            headers: entry.headers, requestedAt: entry.storedAt, receivedAt: entry.storedAt,
            now: now)
        let lifetime = CacheLifetime.seconds(
            status: entry.status, headers: entry.headers, receivedAt: entry.storedAt,
            settings: settings)
        return (age < 1e15 ? age : .infinity, lifetime)
    }
}

extension Duration {
    fileprivate var wholeSeconds: Double { Double(components.seconds) }
}
