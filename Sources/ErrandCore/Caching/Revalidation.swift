package import ErrandSystem
package import HTTPTypes

/// Validates stored responses with conditional requests and `HEAD` (RFC 9111 §4.3); pure.
package enum Revalidation {
    /// The headers of a conditional request; empty if the stored response has no validator.
    package static func conditions(for entry: StoredResponse) -> HTTPFields {
        var conditions = HTTPFields()
        if let tag = entry.headers[fields: .eTag].first, !tag.value.isEmpty {
            // The bytes, which are not always text.
            conditions.append(HTTPField(name: .ifNoneMatch, value: tag.bytes))
        }
        if let modified = entry.headers[values: .lastModified].first,
            HTTPDate.parse(modified, now: entry.storedAt) != nil
        {
            conditions[.ifModifiedSince] = modified
        }
        return conditions
    }

    /// The stored response, updated by a 304; `nil` if the 304 has another `ETag` (§4.3.4).
    package static func confirmed(
        _ entry: StoredResponse, by headers: HTTPFields, requestedAt: Date, receivedAt: Date,
        keepsCookies: Bool = false
    ) -> StoredResponse? {
        if let received = headers[fields: .eTag].first,
            let stored = entry.headers[fields: .eTag].first,
            received.opaqueTag != stored.opaqueTag
        {
            return nil
        }
        var confirmed = entry
        confirmed.headers = HTTPCacheStorage.updated(
            entry.headers, by: headers, requestedAt: requestedAt, receivedAt: receivedAt,
            keepsCookies: keepsCookies)
        confirmed.storedAt = receivedAt
        return confirmed
    }

    /// The effect of a response to `HEAD` on a stored response to `GET` (§4.3.5).
    package enum StoredResponseUpdate: Sendable, Hashable {
        /// The stored response is still valid and has new headers.
        case updated(StoredResponse)
        /// The resource has changed: the stored response is invalid.
        case outdated
        /// The response has no validator, so nothing is known.
        case unknown
    }

    /// Compares a stored response with a 200 response to `HEAD`.
    ///
    /// Stricter than §4.3.5 in one point: without a validator, a stale response stays stale.
    package static func freshened(
        _ entry: StoredResponse, byHead headers: HTTPFields, requestedAt: Date, receivedAt: Date,
        keepsCookies: Bool = false
    ) -> StoredResponseUpdate {
        var isKnown = false
        for name: HTTPField.Name in [.eTag, .lastModified, .contentLength] {
            guard let received = headers[fields: name].first else { continue }
            let stored = entry.headers[fields: name].first
            // A decoded body is stored without its `Content-Length`: there is nothing to compare.
            if name == .contentLength, stored == nil { continue }
            guard let stored, received.opaqueTag == stored.opaqueTag else {
                return .outdated
            }
            isKnown = isKnown || name != .contentLength
        }
        guard entry.status == 200 else { return .outdated }
        guard isKnown else { return .unknown }
        var updated = entry
        updated.headers = HTTPCacheStorage.updated(
            entry.headers, by: headers, requestedAt: requestedAt, receivedAt: receivedAt,
            keepsCookies: keepsCookies)
        updated.storedAt = receivedAt
        return .updated(updated)
    }
}
