public import ErrandSystem

/// A cookie in a ``CookieJar`` (RFC 6265bis §5.7).
public struct Cookie: Sendable, Hashable, Codable {
    /// The name; empty for a cookie without a name.
    public var name: String
    /// The value, including quotes that the server sent.
    public var value: String
    /// The domain in the form of a URL's host: in lower case and in ASCII, without a leading or trailing dot.
    ///
    /// A jar converts other spellings to this form; with a leading dot, the cookie is not ``isHostOnly`` there.
    public var domain: String
    /// Whether the cookie is sent only to this exact host and not to its subdomains.
    public var isHostOnly: Bool
    /// The path prefix that a request must have; starts with a slash.
    public var path: String
    /// The expiry date; `nil` for a session cookie, which is never saved and ends with its jar.
    public var expires: Date?
    /// Whether the cookie is sent over https only.
    public var isSecure: Bool
    /// The `HttpOnly` attribute, which hides a cookie from scripts in a browser.
    ///
    /// Stored without effect.
    public var isHTTPOnly: Bool
    /// The `SameSite` attribute; `nil` if the server sent none or an unknown value.
    ///
    /// Stored without effect, because requests of an endpoint are always same-site.
    public var sameSite: SameSite?
    /// The date on which the jar first stored the cookie; a replacement keeps the date.
    ///
    /// Set by the jar.
    public internal(set) var created = Date.distantPast
    /// Whether name and value are sent in ISO 8859-1, as the server has sent them; `nil` for UTF-8.
    package var isLatin1: Bool?

    /// A value of the `SameSite` attribute (RFC 6265bis §5.6.7).
    public enum SameSite: String, Sendable, Hashable, Codable {
        /// Never sent with cross-site requests.
        case strict = "Strict"
        /// Sent with cross-site requests only for top-level navigation.
        case lax = "Lax"
        /// Always sent.
        case none = "None"
    }

    /// Creates a cookie; ``CookieJar/set(_:)`` validates it.
    ///
    /// - Parameters:
    ///   - domain: The host or domain; a leading and a trailing dot are removed.
    ///   - isHostOnly: Whether subdomains of `domain` do not receive the cookie. Default `nil`: true, unless `domain`
    ///     begins with a dot, which means a domain with its subdomains.
    ///   - path: The path prefix (default `/`).
    ///   - expires: The expiry date; `nil`, the default, makes a session cookie.
    public init(
        name: String, value: String, domain: String, isHostOnly: Bool? = nil, path: String = "/",
        expires: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false,
        sameSite: SameSite? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = CookieDomain.ofApp(domain)
        self.isHostOnly = isHostOnly ?? !CookieDomain.includesSubdomains(domain)
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// Whether the cookie has no expiry date and ends with its jar.
    public var isSession: Bool { expires == nil }

    /// The cookie as `name=value`, the form of the `Cookie` header.
    package var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// The bytes of the cookie in the `Cookie` header: as received, or in UTF-8.
    package var pairBytes: [UInt8] {
        guard isLatin1 == true else { return Array(pair.utf8) }
        let bytes = pair.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        // The application may have changed the value since.
        return bytes.count == pair.unicodeScalars.count ? bytes : Array(pair.utf8)
    }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether both cookies are the same except for their values (RFC 6265bis §5.7, step 23).
    func hasIdentity(of other: Cookie) -> Bool {
        name.hasSameBytes(as: other.name) && path.hasSameBytes(as: other.path)
            && domain == other.domain
            && isHostOnly == other.isHostOnly
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// The name, the domain and the path, without the value.
    public var description: String { "Cookie \(name) of \(domain)\(path)" }

    /// All properties except the value.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "domain": domain, "isHostOnly": isHostOnly, "path": path,
                "expires": expires as Any, "isSecure": isSecure, "isHTTPOnly": isHTTPOnly,
                "sameSite": sameSite as Any, "created": created,
            ])
    }
}

extension Cookie {
    /// The reason why a cookie was refused.
    public enum Refusal: String, Error, Sendable, Hashable, CustomStringConvertible {
        /// The name or the value contains control characters.
        case controlCharacter
        /// The name and the value together are longer than 4096 bytes.
        case tooLong
        /// The cookie has neither a name nor a value.
        case empty
        /// The domain is not a host name, or a server sent it in other characters than ASCII.
        case invalidDomain
        /// The path does not start with a slash.
        case invalidPath
        /// The domain is a public suffix, such as `co.uk`.
        case publicSuffix
        /// The server's host does not belong to the cookie's domain.
        case foreignDomain
        /// The cookie is `Secure`, but the response did not come over https.
        case insecureOrigin
        /// The response did not come over https, and the cookie would hide a `Secure` cookie of the same name.
        case overlaysSecureCookie
        /// The cookie does not meet the requirements of its name prefix `__Secure-` or `__Host-`.
        case prefix

        /// The reason in words.
        public var description: String {
            switch self {
            case .controlCharacter: "the cookie contains control characters"
            case .tooLong: "the cookie's name and value are longer than 4096 bytes"
            case .empty: "the cookie has neither name nor value"
            case .invalidDomain: "the cookie's domain is not a host name in ASCII"
            case .invalidPath: "the cookie's path does not start with a slash"
            case .publicSuffix: "the cookie's domain is a public suffix"
            case .foreignDomain: "the server's host does not belong to the cookie's domain"
            case .insecureOrigin: "the cookie is Secure, but the response did not come over https"
            case .overlaysSecureCookie:
                "the cookie would hide a Secure cookie, but the response did not come over https"
            case .prefix: "the cookie does not meet the requirements of its name prefix"
            }
        }
    }
}

/// The reason why a cookie was refused.
public typealias CookieRefusal = Cookie.Refusal
