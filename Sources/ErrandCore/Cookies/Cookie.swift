public import Foundation

/// A cookie as a ``CookieJar`` keeps it (RFC 6265bis §5.7).
public struct Cookie: Sendable, Hashable, Codable {
    /// The name; empty for a cookie that has none.
    public var name: String
    /// The value, quotes included where the server wrote any.
    public var value: String
    /// The domain in lower case, without a leading dot.
    public var domain: String
    /// Whether the cookie is for this very host and for none below it.
    public var isHostOnly: Bool
    /// The path below which the cookie is sent; begins with a slash.
    public var path: String
    /// When it ends; `nil` for a session cookie, which lives as long as its jar and is never written to a file.
    public var expires: Date?
    /// Whether it is sent over https only.
    public var isSecure: Bool
    /// Whether scripts of a browser must not see it.
    ///
    /// Kept and without effect here.
    public var isHTTPOnly: Bool
    /// What the server said about other sites; `nil` when it said nothing known.
    ///
    /// Kept and without effect here: an endpoint's request is always of the same site.
    public var sameSite: SameSite?
    /// When the jar took it; a cookie that replaces another keeps the other's date.
    ///
    /// Set by the jar.
    public internal(set) var created = Date.distantPast

    /// What a server says about requests that other sites cause.
    public enum SameSite: String, Sendable, Hashable, Codable {
        /// Never with requests of other sites.
        case strict = "Strict"
        /// With top-level navigation only.
        case lax = "Lax"
        /// Always.
        case none = "None"
    }

    /// Makes a cookie; ``CookieJar/set(_:)`` checks it.
    ///
    /// - Parameters:
    ///   - domain: The host, or the domain; a leading dot is dropped.
    ///   - isHostOnly: Default true: not for hosts below the domain.
    ///   - path: Default `/`.
    ///   - expires: Default `nil`: a session cookie.
    public init(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/",
        expires: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false,
        sameSite: SameSite? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = CookieDomain.canonical(domain)
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// Whether the cookie ends with its jar.
    public var isSession: Bool { expires == nil }

    /// The cookie as it stands in a `Cookie` header.
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether both are the same cookie with perhaps another value (RFC 6265bis §5.7, step 23).
    func hasIdentity(of other: Cookie) -> Bool {
        name == other.name && path == other.path && domain == other.domain
            && isHostOnly == other.isHostOnly
    }
}

/// Why a cookie was not taken.
public enum CookieRefusal: String, Error, Sendable, Hashable, CustomStringConvertible {
    /// It holds control characters.
    case controlCharacter
    /// Name and value together are longer than 4096 bytes.
    case tooLong
    /// It has neither name nor value.
    case empty
    /// Its domain holds characters beyond ASCII.
    case invalidDomain
    /// Its path does not begin with a slash.
    case invalidPath
    /// Its domain is a suffix under which anybody registers names, such as `co.uk`.
    case publicSuffix
    /// Its domain is not that of the server.
    case foreignDomain
    /// It is `Secure` and did not come over https.
    case insecureOrigin
    /// It came without TLS and would hide a `Secure` cookie of the same name.
    case overlaysSecureCookie
    /// It lacks what the prefix `__Secure-` or `__Host-` of its name promises.
    case prefix

    /// What is wrong.
    public var description: String {
        switch self {
        case .controlCharacter: "the cookie holds control characters"
        case .tooLong: "the cookie's name and value are longer than 4096 bytes"
        case .empty: "the cookie has neither name nor value"
        case .invalidDomain: "the cookie's domain is not ASCII"
        case .invalidPath: "the cookie's path does not begin with a slash"
        case .publicSuffix: "the cookie's domain is a public suffix"
        case .foreignDomain: "the cookie's domain is not the server's"
        case .insecureOrigin: "the cookie is Secure and did not come over https"
        case .overlaysSecureCookie: "the cookie would hide a Secure one and did not come over https"
        case .prefix: "the cookie lacks what its name's prefix promises"
        }
    }
}
