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

    /// What a `HEAD` says of a stored answer to a `GET` (§4.3.5).
    package enum Freshening: Sendable, Hashable {
        /// It is the same still, and these are its headers.
        case updated(StoredResponse)
        /// There is another one by now.
        case outdated
        /// Nobody can tell.
        case unknown
    }

    /// Judges by a `HEAD` that was answered with 200.
    ///
    /// Stricter than §4.3.5 in one point: without any validator it proves nothing, and a stale answer stays stale.
    package static func freshened(
        _ entry: StoredResponse, byHead headers: HTTPFields, requestedAt: Date, receivedAt: Date
    ) -> Freshening {
        var isKnown = false
        for name: HTTPField.Name in [.eTag, .lastModified, .contentLength] {
            guard let told = headers[values: name].first else { continue }
            let kept = entry.headers[values: name].first
            // A length that was not kept, as of a body that was unpacked, cannot differ.
            if name == .contentLength, kept == nil { continue }
            guard let kept, opaque(told) == opaque(kept) else { return .outdated }
            isKnown = isKnown || name != .contentLength
        }
        guard entry.status == 200 else { return .outdated }
        guard isKnown else { return .unknown }
        var updated = entry
        updated.headers = HTTPCacheStorage.updated(
            entry.headers, by: headers, requestedAt: requestedAt, receivedAt: receivedAt)
        updated.storedAt = receivedAt
        return .updated(updated)
    }

    /// What weak comparison compares (RFC 9110 §8.8.3.2).
    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
