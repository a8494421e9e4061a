package import HTTPTypes

/// The cache directives of a request (RFC 9111 §5.2.1).
package struct RequestCacheControl: Sendable, Hashable {
    private let control: CacheControl
    private let isPragmaNoCache: Bool

    package init(_ headers: HTTPFields) {
        control = CacheControl(headers)
        // `Pragma` counts only without `Cache-Control` (§5.4).
        isPragmaNoCache =
            !headers.contains(.cacheControl)
            && HTTPField.Name("Pragma").map { name in
                headers[values: name].contains { value in
                    ListElements(value).contains { $0.lowercasedASCII() == "no-cache" }
                }
            } ?? false
    }

    /// Whether the store is neither read nor written (`no-store`).
    package var bypassesStore: Bool { control.has("no-store") }

    /// Whether nothing may be sent (`only-if-cached`).
    package var isOnlyIfCached: Bool { control.has("only-if-cached") }

    /// Whether a stored response must be revalidated in any case: for `no-cache`, and for `max-age`
    /// or `min-fresh` without a valid number.
    package var wantsRevalidation: Bool {
        control.has("no-cache") || isPragmaNoCache || control.seconds("max-age") == .invalid
            || control.seconds("min-fresh") == .invalid
    }

    /// The maximum age in seconds (`max-age`).
    package var maxAge: Int? { number("max-age") }

    /// The number of seconds for which the response must stay fresh (`min-fresh`).
    package var minFresh: Int? { number("min-fresh") }

    /// Whether the request has neither `max-age` nor `min-fresh`.
    package var hasNoAgeLimit: Bool { maxAge == nil && minFresh == nil }

    /// Whether the request accepts a response that is stale by this number of seconds
    /// (`max-stale`).
    package func acceptsStale(by staleness: Double) -> Bool {
        if control.isBare("max-stale") { return true }
        guard let limit = number("max-stale") else { return false }
        return staleness <= Double(limit)
    }

    private func number(_ name: String) -> Int? {
        if case .number(let seconds) = control.seconds(name) { return seconds }
        return nil
    }

    /// Whether a request is conditional already, so that the cache must not handle it.
    package static func hasOwnConditions(_ headers: HTTPFields) -> Bool {
        let names: [HTTPField.Name] = [
            .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
        ]
        return names.contains { headers.contains($0) }
    }
}
