import Foundation
package import HTTPTypes

/// What proves that the rest of a file belongs to its beginning: the value to send as `If-Range`.
///
/// Only a strong validator does (RFC 9110 §13.1.5): two versions with one weak validator may differ
/// in every byte.
package enum ResumeValidator {
    /// The strong validator of an answer; `nil` when it has none.
    package static func strong(in headers: HTTPFields) -> String? {
        // Ranges of an encoded body count other bytes than those in the file.
        guard !isEncoded(headers) else { return nil }
        if let tag = headers[.eTag] { return isStrong(tag) ? tag : nil }
        guard let modified = headers[.lastModified], let date = headers[.date],
            let changed = HTTPDate.parse(modified), let sent = HTTPDate.parse(date)
        else { return nil }
        // A date has a resolution of a second: what was changed a moment ago may change again
        // within it. A minute also covers two clocks that disagree (§8.8.2.2).
        return sent.timeIntervalSince(changed) >= 60 ? modified : nil
    }

    /// Whether an answer contradicts the validator that was asked with; silence is no
    /// contradiction.
    package static func contradicts(_ headers: HTTPFields, validator: String) -> Bool {
        let answered = isStrong(validator) ? headers[.eTag] : headers[.lastModified]
        return answered.map { $0 != validator } ?? false
    }

    package static func isEncoded(_ headers: HTTPFields) -> Bool {
        guard let encoding = headers[.contentEncoding] else { return false }
        return !encoding.isEmpty && encoding.lowercased() != "identity"
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
    }
}
