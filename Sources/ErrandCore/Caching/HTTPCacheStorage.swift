package import ErrandSystem
package import HTTPTypes

/// Decides which responses a private cache stores, and with which headers (RFC 9111 §3); pure.
package enum HTTPCacheStorage {
    /// Whether a response may be stored and can be used later.
    package static func mayStore(
        status: Int, headers: HTTPFields, requestHeaders: HTTPFields, receivedAt: Date,
        settings: CachePolicy.HTTPSettings
    ) -> Bool {
        // Incomplete responses are stored by `PartialContent`, and a 304 updates a stored response.
        guard (200..<600).contains(status), status != 206, status != 304 else { return false }
        let control = CacheControl(headers)
        if CacheControl(requestHeaders).has(.noStore) { return false }
        if control.has(.noStore) {
            // `must-understand` overrides `no-store` if the cache knows the status (§5.2.2.3).
            guard control.has(.mustUnderstand),
                CacheLifetime.heuristicStatuses.contains(status)
            else { return false }
        }
        guard !VaryingFields(headers).isEverything else { return false }
        let isAllowed =
            control.has(.public) || control.has(.private) || control.has(.maxAge)
            || headers.contains(.expires) || CacheLifetime.heuristicStatuses.contains(status)
        return isAllowed
            && isUseful(status, headers, control, receivedAt: receivedAt, settings: settings)
    }

    /// Whether the response can be used later: it has a validator, or it may be used without one.
    private static func isUseful(
        _ status: Int, _ headers: HTTPFields, _ control: CacheControl, receivedAt: Date,
        settings: CachePolicy.HTTPSettings
    ) -> Bool {
        if headers.contains(.eTag) || headers.contains(.lastModified) { return true }
        if control.requiresRevalidation { return false }
        let lifetime = CacheLifetime.seconds(
            status: status, headers: headers, receivedAt: receivedAt, settings: settings)
        return lifetime > 0 || settings.staleIfError > .zero || control.has(.staleIfError)
            || control.has(.staleWhileRevalidate)
    }

    /// The headers to store: without those of one connection or one exchange (§3.1), and with the
    /// `Age` at the time of receipt, so that the time of the request need not be stored.
    ///
    /// - Parameter keepsCookies: Whether `Set-Cookie` is stored. It does not prevent storing (§7.3),
    ///   but a response that is not bound to a user would give the cookies to all users.
    package static func stored(
        _ headers: HTTPFields, requestedAt: Date, receivedAt: Date, keepsCookies: Bool = false
    ) -> HTTPFields {
        var dropped = transient(in: headers)
        if keepsCookies { dropped.remove(.setCookie) }
        var kept = HTTPFields(headers.filter { !dropped.contains($0.name) })
        let age = CacheLifetime.age(
            headers: headers, requestedAt: requestedAt, receivedAt: receivedAt, now: receivedAt)
        // A cache adds the time of receipt to a response without `Date` (RFC 9110 §6.6.1).
        if !kept.contains(.date) { kept[.date] = HTTPDate.string(from: receivedAt) }
        kept[.age] = age < 1 ? nil : String(Int(min(age.rounded(.up), 2_147_483_648)))
        return kept
    }

    /// The headers of a stored response after a 304 (§3.2).
    ///
    /// Fields that describe the stored bytes are kept; the 304 replaces the others that it has.
    package static func updated(
        _ stored: HTTPFields, by confirmation: HTTPFields, requestedAt: Date, receivedAt: Date,
        keepsCookies: Bool = false
    ) -> HTTPFields {
        let fresh = self.stored(
            confirmation, requestedAt: requestedAt, receivedAt: receivedAt,
            keepsCookies: keepsCookies
        )
        .filter { !representationFields.contains($0.name) }
        // The old `Date` and `Age` are removed even if the 304 has none: they would make the
        // response stale again.
        var replaced: Set<HTTPField.Name> = [.date, .age]
        for field in fresh { replaced.insert(field.name) }
        return HTTPFields(stored.filter { !replaced.contains($0.name) } + fresh)
    }

    private static let representationFields: Set<HTTPField.Name> = [
        .contentLength, .contentEncoding, .contentRange,
    ]

    private static let neverStored: Set<HTTPField.Name> = {
        var names: Set<HTTPField.Name> = [
            .connection, .proxyAuthenticate, .proxyAuthorization, .te, .trailer, .transferEncoding,
            .upgrade,
            .setCookie, .wwwAuthenticate, .authenticationInfo,
        ]
        for text in ["Keep-Alive", "Proxy-Connection", "Proxy-Authentication-Info"] {
            if let name = HTTPField.Name(text) { names.insert(name) }
        }
        return names
    }()

    private static func transient(in headers: HTTPFields) -> Set<HTTPField.Name> {
        var names = neverStored
        for value in headers[values: .connection] {
            for element in ListElements(value) {
                if let name = HTTPField.Name(String(element)) { names.insert(name) }
            }
        }
        return names
    }
}
