package import HTTPTypes

/// What a request says about stored answers (RFC 9111 §5.2.1).
package struct RequestCacheControl: Sendable, Hashable {
    private let control: CacheControl
    private let isPragmaNoCache: Bool

    package init(_ headers: HTTPFields) {
        control = CacheControl(headers)
        // Heeded only where there is no `Cache-Control` (§5.4).
        isPragmaNoCache =
            !headers.contains(.cacheControl)
            && HTTPField.Name("Pragma").map { name in
                headers[values: name].contains { value in
                    ListElements(value).contains { $0.lowercased() == "no-cache" }
                }
            } ?? false
    }

    /// Whether the store is left alone, in both directions.
    package var bypasses: Bool { control.has("no-store") }

    /// Whether nothing may be sent.
    package var isOnlyIfCached: Bool { control.has("only-if-cached") }

    /// Whether the server has to be asked in any case; a limit that is no number is taken for that.
    package var wantsRevalidation: Bool {
        control.has("no-cache") || isPragmaNoCache || control.seconds("max-age") == .invalid
            || control.seconds("min-fresh") == .invalid
    }

    /// The greatest age, in seconds.
    package var maxAge: Int? { number("max-age") }

    /// For how many seconds the answer has to stay fresh.
    package var minFresh: Int? { number("min-fresh") }

    /// Whether nothing narrows what may answer.
    package var isIndifferent: Bool { maxAge == nil && minFresh == nil }

    /// Whether an answer that is out of date by so many seconds is welcome.
    package func takesStale(by staleness: Double) -> Bool {
        if control.isBare("max-stale") { return true }
        guard let limit = number("max-stale") else { return false }
        return staleness <= Double(limit)
    }

    private func number(_ name: String) -> Int? {
        if case .number(let seconds) = control.seconds(name) { return seconds }
        return nil
    }

    /// Whether a request has conditions of its own: then its answers are its own, too.
    package static func hasOwnConditions(_ headers: HTTPFields) -> Bool {
        let names: [HTTPField.Name] = [
            .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
        ]
        return names.contains { headers.contains($0) }
    }
}
