public import ErrandHTTP
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Cookie {
    /// Creates a cookie from a Foundation cookie.
    ///
    /// If its domain begins with a dot, the cookie also applies to subdomains.
    public init(_ cookie: HTTPCookie) {
        let sameSite = cookie.properties?[HTTPCookiePropertyKey("SameSite")] as? String
        self.init(
            name: cookie.name, value: cookie.value, domain: cookie.domain,
            path: cookie.path,
            expires: cookie.isSessionOnly ? nil : cookie.expiresDate, isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            // text of Foundation: a constant such as "strict"
            sameSite: sameSite.flatMap { SameSite(rawValue: $0.capitalized) })
    }

    /// The same cookie for Foundation; `nil` if Foundation cannot represent it, for example without
    /// a name.
    public var httpCookie: HTTPCookie? {
        guard !name.isEmpty else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .path: path, .version: "0",
            .domain: isHostOnly ? domain : "." + domain,
        ]
        if let expires {
            properties[.expires] = expires
        } else {
            properties[.discard] = "TRUE"
        }
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        if let sameSite { properties[HTTPCookiePropertyKey("SameSite")] = sameSite.rawValue }
        return HTTPCookie(properties: properties)
    }
}

extension CookieJar {
    /// The cookies for a request to a URL, as Foundation cookies.
    public func httpCookies(for url: URL) -> [HTTPCookie] {
        guard let uri = try? HTTPURL(parsing: url.absoluteString) else { return [] }
        return cookies(for: uri).compactMap(\.httpCookie)
    }
}
