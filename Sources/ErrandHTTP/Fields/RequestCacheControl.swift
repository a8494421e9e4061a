package import HTTPTypes

/// The cache directives of a request (RFC 9111 §5.2.1).
package struct RequestCacheControl: Sendable, Hashable {
    private let control: CacheControl
    private let isPragmaNoCache: Bool

    private static let pragma = HTTPField.Name.custom("Pragma")

    package init(_ headers: HTTPFields) {
        control = CacheControl(headers)
        // `Pragma` counts only without `Cache-Control` (§5.4).
        isPragmaNoCache =
            headers.has(Self.pragma) && !headers.has(.cacheControl)
            && headers[values: Self.pragma].contains { value in
                ListElements(value).contains { $0.lowercasedASCII() == "no-cache" }
            }
    }

    /// Whether the store is neither read nor written (`no-store`).
    package var bypassesStore: Bool { control.has(.noStore) }

    /// Whether nothing may be sent (`only-if-cached`).
    package var isOnlyIfCached: Bool { control.has(.onlyIfCached) }

    /// Whether a stored response must be revalidated in any case: for `no-cache`, and for `max-age`
    /// or `min-fresh` without a valid number.
    package var wantsRevalidation: Bool {
        control.has(.noCache) || isPragmaNoCache || control.seconds(.maxAge) == .invalid
            || control.seconds(.minFresh) == .invalid
    }

    /// The maximum age in seconds (`max-age`).
    package var maxAge: Int? { number(.maxAge) }

    /// The number of seconds for which the response must stay fresh (`min-fresh`).
    package var minFresh: Int? { number(.minFresh) }

    /// Whether the request has neither `max-age` nor `min-fresh`.
    package var hasNoAgeLimit: Bool { maxAge == nil && minFresh == nil }

    /// Whether the request accepts a response that is stale by this number of seconds
    /// (`max-stale`).
    package func acceptsStale(by staleness: Double) -> Bool {
        if control.isBare(.maxStale) { return true }
        guard let limit = number(.maxStale) else { return false }
        return staleness <= Double(limit)
    }

    private func number(_ directive: CacheControl.Directive) -> Int? {
        if case .number(let seconds) = control.seconds(directive) { return seconds }
        return nil
    }

    /// Whether a request is conditional already, so that the cache must not handle it.
    package static func hasOwnConditions(_ headers: HTTPFields) -> Bool {
        headers.contains { field in
            field.name.canonicalName.utf8.starts(with: "if-".utf8)
                && conditions.contains(field.name)
        }
    }

    private static let conditions: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]
}
