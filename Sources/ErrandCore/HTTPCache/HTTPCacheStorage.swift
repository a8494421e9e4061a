package import Foundation
package import HTTPTypes

/// What may be kept of an exchange, and in what form: RFC 9111 §3, pure, for a private cache.
package enum HTTPCacheStorage {
    /// Whether an answer may be stored, and is of any use when stored.
    package static func mayStore(
        status: Int, headers: HTTPFields, requestHeaders: HTTPFields, receivedAt: Date,
        settings: HTTPCacheSettings
    ) -> Bool {
        // A part of an answer is none (§3.3), and what confirms another is not one of its own.
        guard (200..<600).contains(status), status != 206, status != 304 else { return false }
        let control = CacheControl(headers)
        if CacheControl(requestHeaders).has("no-store") { return false }
        if control.has("no-store") {
            // Who understands a status need not care (§5.2.2.3).
            guard control.has("must-understand"),
                CacheLifetime.heuristicStatuses.contains(status)
            else { return false }
        }
        guard !VaryingFields(headers).isEverything else { return false }
        let isAllowed =
            control.has("public") || control.has("private") || control.has("max-age")
            || headers.contains(.expires) || CacheLifetime.heuristicStatuses.contains(status)
        return isAllowed
            && isUseful(status, headers, control, receivedAt: receivedAt, settings: settings)
    }

    /// Without a validator, an answer that is stale from the start answers nobody.
    private static func isUseful(
        _ status: Int, _ headers: HTTPFields, _ control: CacheControl, receivedAt: Date,
        settings: HTTPCacheSettings
    ) -> Bool {
        if headers.contains(.eTag) || headers.contains(.lastModified) { return true }
        if control.has("no-cache") { return false }
        let lifetime = CacheLifetime.seconds(
            status: status, headers: headers, receivedAt: receivedAt, settings: settings)
        return lifetime > 0 || settings.staleIfError > .zero || control.has("stale-if-error")
            || control.has("stale-while-revalidate")
    }

    /// The headers as they are kept: without what belongs to one connection or one exchange (§3.1), and with the
    /// age that the answer had when it came, so that nobody has to remember when it was asked for.
    package static func stored(
        _ headers: HTTPFields, requestedAt: Date, receivedAt: Date
    ) -> HTTPFields {
        let dropped = transient(in: headers)
        var kept = HTTPFields(headers.filter { !dropped.contains($0.name) })
        let age = CacheLifetime.age(
            headers: headers, requestedAt: requestedAt, receivedAt: receivedAt, now: receivedAt)
        // Who keeps an answer without a date appends when it came (RFC 9110 §6.6.1).
        if !kept.contains(.date) { kept[.date] = HTTPDate.string(from: receivedAt) }
        kept[.age] = age < 1 ? nil : String(Int(min(age.rounded(.up), 2_147_483_648)))
        return kept
    }

    /// The headers of a stored answer after a 304 confirmed it (§3.2).
    ///
    /// What describes the stored bytes stays; everything else is the 304's.
    package static func updated(
        _ stored: HTTPFields, by confirmation: HTTPFields, requestedAt: Date, receivedAt: Date
    ) -> HTTPFields {
        let fresh = self.stored(confirmation, requestedAt: requestedAt, receivedAt: receivedAt)
            .filter { !aboutTheBytes.contains($0.name) }
        // Dates and ages are the 304's alone: the old ones would make it old again.
        var replaced: Set<HTTPField.Name> = [.date, .age]
        for field in fresh { replaced.insert(field.name) }
        return HTTPFields(stored.filter { !replaced.contains($0.name) } + fresh)
    }

    private static let aboutTheBytes: Set<HTTPField.Name> = [
        .contentLength, .contentEncoding, .contentRange,
    ]

    private static let always: Set<HTTPField.Name> = {
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
        var names = always
        for value in headers[values: .connection] {
            for element in ListElements(value) {
                if let name = HTTPField.Name(String(element)) { names.insert(name) }
            }
        }
        return names
    }
}
