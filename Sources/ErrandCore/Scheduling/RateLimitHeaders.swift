package import Foundation
package import HTTPTypes

/// What an answer says about how often its host wants to be asked: a pure function.
package enum RateLimitHeaders {
    /// How long to send nothing; `nil` when the answer does not ask for it.
    ///
    /// `Retry-After` of a 429 or 503; else `RateLimit` (`r=0;t=30`), `RateLimit-Remaining` with
    /// `RateLimit-Reset`, and their `X-` forms, when nothing remains. What cannot be read is ignored.
    package static func pause(status: Int, headers: HTTPFields, now: Date) -> Duration? {
        if status == 429 || status == 503,
            let asked = RetryDecision.retryAfter(headers[.retryAfter], now: now)
        {
            return asked
        }
        if let text = value("ratelimit", headers), let pause = structured(text) { return pause }
        for prefix in ["ratelimit", "x-ratelimit", "x-rate-limit"] {
            guard let remaining = value(prefix + "-remaining", headers).flatMap(number) else {
                continue
            }
            guard remaining <= 0, let reset = value(prefix + "-reset", headers).flatMap(number)
            else {
                return nil
            }
            // Some servers give the time of the reset, not the time until then.
            let seconds = reset > 1_000_000_000 ? reset - now.timeIntervalSince1970 : reset
            return .seconds(max(0, min(seconds, 86_400)))
        }
        return nil
    }

    /// Reads the form `"default";r=0;t=30`.
    private static func structured(_ text: String) -> Duration? {
        var remaining: Double?
        var reset: Double?
        for part in text.split(whereSeparator: { $0 == ";" || $0 == "," }) {
            let pair = part.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard pair.count == 2 else { continue }
            if pair[0] == "r" || pair[0] == "remaining" { remaining = number(pair[1]) }
            if pair[0] == "t" || pair[0] == "reset" { reset = number(pair[1]) }
        }
        guard let remaining, remaining <= 0, let reset else { return nil }
        return .seconds(max(0, min(reset, 86_400)))
    }

    private static func value(_ name: String, _ headers: HTTPFields) -> String? {
        HTTPField.Name(name).flatMap { headers[$0] }
    }

    private static func number(_ text: String) -> Double? {
        guard let number = Double(text.trimmingCharacters(in: .whitespaces)), number.isFinite else {
            return nil
        }
        return number
    }
}
