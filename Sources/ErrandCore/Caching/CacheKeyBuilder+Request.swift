package import ErrandHTTP

extension CacheKeyBuilder {
    /// The cache key of a request for the wire; `nil` if the bytes of its body are unknown.
    package static func key(for request: TransportRequest, identity: String?) -> CacheKey? {
        let digest: String?
        switch self.digest(of: request.body) {
        case .none: digest = nil
        case .sha256(let hex): digest = hex
        case .unknown: return nil
        }
        // An encoded response is stored separately.
        let encoding = request.options.decodesContent ? "" : "encoded "
        return key(
            method: request.method, url: request.url,
            bodyDigest: digest.map { encoding + $0 } ?? encoding,
            headers: request.headers, identity: identity)
    }

    /// The primary key for ``CachePolicy/http`` (RFC 9111 §2): URL and identity.
    ///
    /// `Vary` adds headers.
    package static func httpKey(
        for url: HTTPURL, _ request: TransportRequest, identity: String?
    ) -> CacheKey {
        httpKey(
            for: url, isDecoded: request.options.decodesContent, identity: identity)
    }

    /// The primary keys of a URL that a request may invalidate: with its own identity, and without one.
    package static func httpKeys(for url: HTTPURL, identity: String?) -> [CacheKey] {
        var identities: [String?] = [nil]
        if let identity { identities.append(identity) }
        return identities.flatMap { identity in
            [true, false].map { httpKey(for: url, isDecoded: $0, identity: identity) }
        }
    }
}
