package import ErrandSystem
package import HTTPTypes

/// The rate limit that a response announces; a pure parser.
///
/// It reads `Retry-After` of a 429 or 503 response, and `RateLimit` and `RateLimit-Policy` in the syntax of the
/// current draft (`"day";r=0;t=30`, `"day";q=100;w=60`) and of the previous drafts
/// (`limit=100, remaining=0, reset=30`). It also reads `RateLimit-Limit`, `-Remaining` and `-Reset` and their
/// `X-` forms. Malformed values are ignored.
package struct RateLimitHeaders: Sendable, Equatable {
    /// The time during which no request should be sent; `nil` if the response does not ask for a pause.
    package var pause: Duration?
    /// The announced limit; the strictest one if there are several.
    package var limit: RateLimit?
    /// The number of remaining requests; `nil` if the response does not announce it.
    package var remaining: Int?
    /// Whether the server refused the request with 429.
    package var isRefusal: Bool

    package init(status: Int, headers: HTTPFields, now: Date) {
        isRefusal = status == 429
        if let text = Self.value("ratelimit", headers) { read(Self.items(text)) }
        if remaining == nil { readSeparate(headers, now) }
        readPolicy(headers)
        if status == 429 || status == 503,
            let asked = RetryAfter.duration(headers[.retryAfter], now: now)
        {
            pause = asked
        }
    }

    /// One item of a list, such as `"day";r=0;t=30` or `remaining=0`.
    private struct Item {
        var values: [String: Double] = [:]
        /// Whether the quota unit (`qu`) is requests, which is the default.
        var isOfRequests = true
    }

    private mutating func read(_ items: [Item]) {
        // In the previous drafts, several items describe one limit.
        var older = Item()
        for item in items {
            older.values.merge(item.values) { $1 }
            guard item.isOfRequests, let left = item.values["r"] else { continue }
            take(left, reset: item.values["t"])
        }
        if let left = older.values["remaining"] { take(left, reset: older.values["reset"]) }
    }

    private mutating func take(_ left: Double, reset: Double?) {
        let whole = Int(max(0, min(left, 1e9)))
        remaining = min(remaining ?? whole, whole)
        guard left <= 0, let reset else { return }
        pause = max(pause ?? .zero, Self.seconds(reset))
    }

    private mutating func readSeparate(_ headers: HTTPFields, _ now: Date) {
        for prefix in ["ratelimit", "x-ratelimit", "x-rate-limit"] {
            guard let left = Self.value(prefix + "-remaining", headers).flatMap(Self.number) else {
                continue
            }
            let reset = Self.value(prefix + "-reset", headers).flatMap(Self.number)
            // Some servers send the time of the reset instead of the seconds until then.
            take(left, reset: reset.map { $0 > 1e9 ? $0 - now.timeIntervalSince1970 : $0 })
            return
        }
    }

    private mutating func readPolicy(_ headers: HTTPFields) {
        var items = Self.value("ratelimit-policy", headers).map(Self.items) ?? []
        if items.isEmpty {
            // Previous drafts: `RateLimit-Limit: 100, 100;w=60`.
            items = Self.value("ratelimit-limit", headers).map(Self.items) ?? []
        }
        let limits = items.compactMap { item -> RateLimit? in
            guard item.isOfRequests, let quota = item.values["q"] ?? item.values[""], quota >= 1,
                let window = item.values["w"], window > 0
            else { return nil }
            return RateLimit(
                requests: Int(min(quota, 1e9)), per: Self.seconds(window))
        }
        limit = limits.min { $0.per * Double($1.requests) > $1.per * Double($0.requests) }
    }

    private static func seconds(_ number: Double) -> Duration {
        .seconds(max(0, min(number, 86_400)))
    }

    /// Splits a list at commas and each item at semicolons, but not inside quoted strings.
    private static func items(_ text: String) -> [Item] {
        QuotedSplitter(text[...], at: UInt8(ascii: ",")).map { part in
            var item = Item()
            for (index, piece) in QuotedSplitter(part, at: UInt8(ascii: ";")).enumerated() {
                let pair = piece.pieces(at: "=", maxSplits: 1).map { String($0.trimmingBlanks()) }
                if pair.count == 2 {
                    let name = pair[0].lowercasedASCII()
                    if let value = number(pair[1]) { item.values[name] = value }
                    if name == "qu" { item.isOfRequests = pair[1].contains(bytes: "requests") }
                } else if index == 0, let value = pair.first.flatMap(number) {
                    item.values[""] = value
                }
            }
            return item
        }
    }

    private static func value(_ name: String, _ headers: HTTPFields) -> String? {
        HTTPField.Name(name).flatMap { headers[$0] }
    }

    /// An integer or a decimal (RFC 9651 §3.3.1, §3.3.2): digits with an optional sign and fraction.
    private static func number(_ text: String) -> Double? {
        let text = text[...].trimmingBlanks()
        let digits = text.dropping(prefix: "-") ?? text
        let parts = digits.utf8.split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard (1...15).contains(parts[0].count),
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        return Double(text)
    }
}
