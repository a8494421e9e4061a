import ErrandCore

extension RequestSummary {
    /// The line about the whole request.
    ///
    ///     GetIssue GET api.example.com/repos/…/issues/4 → 200 in 43 ms, 1302 B, network, attempt 2
    func line(_ endpoint: String) -> String {
        let subject = [endpoint, method?.rawValue, url.map(SanitizedURL.brief)]
        var parts: [String]
        switch result {
        case .response(let status, let bytes, let source):
            parts = ["\(status) in \(Self.text(duration))"]
            if let bytes { parts.append(Self.text(bytes: bytes)) }
            parts.append(isJoined ? "joined" : Self.text(source))
        case .failure: parts = ["failed in \(Self.text(duration))"]
        case .cancellation, nil: parts = ["cancelled after \(Self.text(duration))"]
        }
        if attempts > 1 { parts.append("attempt \(attempts)") }
        let text =
            "\(subject.compactMap(\.self).joined(separator: " ")) → \(parts.joined(separator: ", "))"
        guard case .failure(let message, _, _) = result else { return text }
        return "\(text): \(message)"
    }

    /// A duration in milliseconds below ten seconds, otherwise in seconds.
    static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000
        if milliseconds >= 10_000 { return "\(tenths(of: milliseconds, per: 1000)) s" }
        if milliseconds >= 10 || milliseconds < 0 { return "\(milliseconds) ms" }
        let microseconds = seconds &* 1_000_000 &+ attoseconds / 1_000_000_000_000
        return "\(tenths(of: microseconds, per: 1000)) ms"
    }

    /// A number of bytes: in full below 10,000, otherwise with a decimal prefix.
    static func text(bytes: Int64) -> String {
        switch bytes {
        case ..<10_000: "\(bytes) B"
        case ..<1_000_000: "\(tenths(of: bytes, per: 1000)) kB"
        case ..<1_000_000_000: "\(tenths(of: bytes, per: 1_000_000)) MB"
        default: "\(tenths(of: bytes, per: 1_000_000_000)) GB"
        }
    }

    /// A quotient with at most one decimal.
    private static func tenths(of value: Int64, per unit: Int64) -> String {
        let tenths = value / (unit / 10)
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private static func text(_ source: Response.Source) -> String {
        switch source {
        case .network: "network"
        case .cacheFresh: "cache"
        case .cacheStale: "stale cache"
        case .revalidated: "revalidated"
        }
    }
}
