package import ErrandSystem

/// Parses the `Retry-After` field (RFC 9110 §10.2.3); pure.
package enum RetryAfter {
    /// The duration of a `Retry-After` value, which is a number of seconds or a date.
    ///
    /// `nil` if the value is missing or malformed. Very large values are limited to about 136 years, so that
    /// the duration can be used in calculations.
    package static func duration(_ text: String?, now: Date) -> Duration? {
        guard let text else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, 1 << 32))
        }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .milliseconds(Int64(max(0, min(date.timeIntervalSince(now), 4e9)) * 1000))
    }
}
