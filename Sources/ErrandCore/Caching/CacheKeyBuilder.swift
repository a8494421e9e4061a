import ErrandSystem
package import HTTPTypes

/// Makes the cache key of a final request.
///
/// The key has one line each for the method, the URL without fragment and user info, `Accept`,
/// `Accept-Language`, the digest of the body, and the identity, so that each user has separate
/// entries. Without an identity, ``AddedCredentials`` add a digest to the key. Other headers are not
/// part of it.
package enum CacheKeyBuilder {
    /// The key of a request; `bodyDigest` is `nil` without a body.
    package static func key(
        method: HTTPMethod, url: HTTPURL, bodyDigest: String?, headers: HTTPFields = [:],
        identity: String?
    ) -> CacheKey {
        key(
            "", method, url, bodyDigest,
            accept: headers.text(of: .accept), language: headers.text(of: .acceptLanguage), identity
        )
    }

    private static func key(
        _ prefix: String, _ method: HTTPMethod, _ url: HTTPURL, _ bodyDigest: String?,
        accept: String?, language: String?, _ identity: String?
    ) -> CacheKey {
        let address = url.requestText
        let (accept, language, bodyDigest) = (accept ?? "", language ?? "", bodyDigest ?? "")
        var text = ""
        text.reserveCapacity(
            prefix.utf8.count + method.rawValue.utf8.count + address.utf8.count + accept.utf8.count
                + language.utf8.count + bodyDigest.utf8.count + (identity?.utf8.count ?? 0) + 6)
        text += prefix
        for line in [method.rawValue, address, accept, language, bodyDigest] {
            text += line
            text += "\n"
        }
        // The identity comes last, so that line breaks in it cannot imitate another line. The "="
        // distinguishes an empty identity from none.
        if let identity {
            text += "="
            text += identity
        }
        return CacheKey(canonical: text)
    }

    /// The digest of a body.
    ///
    /// - Returns: `.unknown` for a file, a stream, a multipart body or a body with trailers, which
    ///   are not known before they are sent: such a request has no key and is not cached.
    package static func digest(of body: HTTPBody?) -> BodyDigest {
        guard let body else { return .none }
        guard case .data(let data) = body.storage, body.trailerSource == nil else {
            return .unknown
        }
        return .sha256(SHA256.hex(data))
    }

    /// The digest of a body, if it is known.
    package enum BodyDigest: Sendable, Hashable {
        /// There is no body.
        case none
        /// The SHA-256 digest of the bytes in hexadecimal.
        case sha256(String)
        /// The bytes are not known before they are sent.
        case unknown
    }

    /// The key under which ``CachePolicy/http`` stores the response of a URL, or its
    /// ``VariantIndex``.
    ///
    /// - Parameter isDecoded: Whether the content encoding is removed before storing; responses
    ///   that are stored encoded have separate entries.
    package static func httpKey(for url: HTTPURL, isDecoded: Bool, identity: String?) -> CacheKey {
        key(
            "http\n", .get, url, isDecoded ? nil : "encoded", accept: nil, language: nil, identity)
    }
}
