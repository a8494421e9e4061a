import Foundation
package import HTTPTypes

/// Makes the key of a final request (row CAC-7).
///
/// Everything that decides about the answer is in it, a line each: the method, the URL without
/// fragment, `Accept` and `Accept-Language`, the digest of the body, and last whose data it is, so
/// that two users have a slot each (row CAC-5). Where none is named, a digest of
/// the credentials among the headers is; other headers are not.
package enum CacheKeyBuilder {
    /// The key of a request; `nil` digest where there is no body.
    package static func key(
        method: HTTPMethod, url: URI, bodyDigest: String?, headers: HTTPFields = [:],
        identity: String?
    ) -> CacheKey {
        var plain = url
        plain.fragment = nil
        plain.userInfo = nil
        var text = method.rawValue + "\n" + plain.string + "\n"
        text += (headers[.accept] ?? "") + "\n" + (headers[.acceptLanguage] ?? "") + "\n"
        text += (bodyDigest ?? "") + "\n"
        // The last line may hold line breaks without being taken for another; no identity is not an
        // empty one.
        if let identity { text += "=" + identity }
        return CacheKey(canonical: text)
    }

    /// The digest of a body: `nil` for none.
    ///
    /// - Returns: `.unknown` for a file or a stream, whose bytes are not known before they are sent: such
    ///   a request has no key and is not cached.
    package static func digest(of body: HTTPBody?) -> BodyDigest {
        guard let body else { return .none }
        guard case .data(let data) = body.storage else { return .unknown }
        return .sha256(SHA256.hex(data))
    }

    /// What is known of a body.
    package enum BodyDigest: Sendable, Hashable {
        /// There is no body.
        case none
        /// The bytes' digest in hex.
        case sha256(String)
        /// Nobody can tell yet.
        case unknown
    }

    /// The key of a request for the wire; `nil` where it has none.
    package static func key(for request: TransportRequest, identity: String?) -> CacheKey? {
        let digest: String?
        switch self.digest(of: request.body) {
        case .none: digest = nil
        case .sha256(let hex): digest = hex
        case .unknown: return nil
        }
        // An answer that was left encoded is another one.
        let form = request.options.decodesContent ? "" : "encoded "
        return key(
            method: request.method, url: request.url, bodyDigest: digest.map { form + $0 } ?? form,
            headers: request.headers, identity: identity ?? shownCredentials(request.headers))
    }

    /// The primary key of a cache by RFC 9111 (§2): who asks for which address.
    ///
    /// Headers are `Vary`'s business.
    package static func httpKey(
        for url: URI, _ request: TransportRequest, identity: String?
    ) -> CacheKey {
        httpKey(
            for: url, isDecoded: request.options.decodesContent,
            identity: identity ?? shownCredentials(request.headers))
    }

    /// The primary keys under which answers of an address may be that this request makes out of date: of whoever asks,
    /// and of everybody.
    package static func httpKeys(
        for url: URI, _ request: TransportRequest, identity: String?
    ) -> [CacheKey] {
        var identities: [String?] = [nil]
        if let own = identity ?? shownCredentials(request.headers) { identities.append(own) }
        return identities.flatMap { identity in
            [true, false].map { httpKey(for: url, isDecoded: $0, identity: identity) }
        }
    }

    private static func httpKey(for url: URI, isDecoded: Bool, identity: String?) -> CacheKey {
        let key = key(
            method: .get, url: url, bodyDigest: isDecoded ? nil : "encoded", identity: identity)
        return CacheKey(canonical: "http\n" + key.canonical)
    }

    /// A digest of the credentials among the headers; `nil` when there are none.
    ///
    /// Where nobody says whose data an answer is, it is theirs who showed these: better a miss after a new token
    /// than another user's data.
    private static func shownCredentials(_ headers: HTTPFields) -> String? {
        let shown = headers.filter { SecretName.isSecret(header: $0.name.canonicalName) }
        guard !shown.isEmpty else { return nil }
        let text = shown.map { $0.name.canonicalName + ":" + $0.value }.joined(separator: "\n")
        return "credentials " + SHA256.hex(Data(text.utf8))
    }
}

/// The key of an exchange: the one made from `cacheArguments` where `AdaptStep` left one, else the
/// request's own; `nil` for a body whose bytes are not known.
package func cacheKey(for exchange: Exchange) -> CacheKey? {
    exchange.cacheKey
        ?? CacheKeyBuilder.key(
            for: exchange.request,
            identity: exchange.description.cacheIdentity ?? exchange.configuration.cacheIdentity)
}
