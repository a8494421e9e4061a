package import Foundation
package import HTTPTypes

/// Asking a server whether a stored answer is still valid (RFC 9111 §4.3); pure.
package enum Revalidation {
    /// The conditions to put on; empty when the stored answer has no validator.
    package static func conditions(for entry: StoredResponse) -> HTTPFields {
        var conditions = HTTPFields()
        if let tag = entry.headers[values: .eTag].first, !tag.isEmpty {
            conditions[.ifNoneMatch] = tag
        }
        if let modified = entry.headers[values: .lastModified].first,
            HTTPDate.parse(modified, now: entry.storedAt) != nil
        {
            conditions[.ifModifiedSince] = modified
        }
        return conditions
    }

    /// The stored answer, confirmed; `nil` when the 304 speaks of another one (§4.3.4).
    package static func confirmed(
        _ entry: StoredResponse, by headers: HTTPFields, requestedAt: Date, receivedAt: Date
    ) -> StoredResponse? {
        if let told = headers[values: .eTag].first, let kept = entry.headers[values: .eTag].first,
            opaque(told) != opaque(kept)
        {
            return nil
        }
        var confirmed = entry
        confirmed.headers = HTTPCacheStorage.updated(
            entry.headers, by: headers, requestedAt: requestedAt, receivedAt: receivedAt)
        confirmed.storedAt = receivedAt
        return confirmed
    }

    /// What weak comparison compares (RFC 9110 §8.8.3.2).
    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
