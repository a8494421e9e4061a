import Foundation

/// Whether a cookie is taken, and in which form (RFC 6265bis §5.7): pure functions.
struct CookieAcceptance {
    /// `nil` takes the built-in ones, which are made when the first cookie with a domain comes.
    let publicSuffixes: (any PublicSuffixList)?
    let trustsLoopback: Bool

    /// Judges what a server at an address set.
    ///
    /// Whether it hides a `Secure` cookie is the storage's to judge.
    func judge(_ text: String, from url: URI, now: Date) -> Result<Cookie, CookieRefusal> {
        let host = url.host ?? ""
        guard !host.isEmpty else { return .failure(.foreignDomain) }
        return SetCookie.parse(text, now: now).flatMap { set in
            guard set.domain.utf8.allSatisfy({ $0 < 0x80 }) else { return .failure(.invalidDomain) }
            var domain = set.domain
            if !domain.isEmpty, isPublicSuffix(domain) {
                guard domain == host else { return .failure(.publicSuffix) }
                domain = ""
            }
            guard domain.isEmpty || CookieDomain.matches(host: host, domain: domain) else {
                return .failure(.foreignDomain)
            }
            if set.isSecure, !isSecure(url) { return .failure(.insecureOrigin) }
            let isHostOnly = domain.isEmpty
            guard
                Self.keepsPrefix(
                    name: set.name, value: set.value, isSecure: set.isSecure,
                    isHostOnly: isHostOnly,
                    path: set.hasPath ? set.path : nil)
            else { return .failure(.prefix) }
            return .success(
                Cookie(
                    name: set.name, value: set.value, domain: isHostOnly ? host : domain,
                    isHostOnly: isHostOnly, path: set.path ?? CookiePath.defaultPath(of: url.path),
                    expires: set.expires, isSecure: set.isSecure, isHTTPOnly: set.isHTTPOnly,
                    sameSite: set.sameSite))
        }
    }

    /// Judges a cookie of the user's own: everything that does not need a server's address.
    func judge(_ cookie: Cookie, now: Date) -> Result<Cookie, CookieRefusal> {
        guard !cookie.name.utf8.contains(where: SetCookie.isControl),
            !cookie.value.utf8.contains(where: SetCookie.isControl),
            !cookie.name.utf8.contains(where: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
            ),
            !cookie.value.utf8.contains(UInt8(ascii: ";"))
        else { return .failure(.controlCharacter) }
        if cookie.name.isEmpty, cookie.value.isEmpty { return .failure(.empty) }
        guard cookie.name.utf8.count + cookie.value.utf8.count <= SetCookie.longestPair else {
            return .failure(.tooLong)
        }
        guard !cookie.domain.isEmpty, cookie.domain.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return .failure(.invalidDomain) }
        guard cookie.path.utf8.first == UInt8(ascii: "/"), cookie.path.utf8.count <= 1024 else {
            return .failure(.invalidPath)
        }
        if !cookie.isHostOnly, isPublicSuffix(cookie.domain) {
            return .failure(.publicSuffix)
        }
        guard
            Self.keepsPrefix(
                name: cookie.name, value: cookie.value, isSecure: cookie.isSecure,
                isHostOnly: cookie.isHostOnly, path: cookie.path)
        else { return .failure(.prefix) }
        var cookie = cookie
        if let expires = cookie.expires {
            cookie.expires = min(expires, now + SetCookie.longestAge)
        }
        return .success(cookie)
    }

    /// Whether `Secure` cookies may travel to and from an address.
    func isSecure(_ url: URI) -> Bool {
        if url.scheme == "https" { return true }
        guard trustsLoopback, let host = url.host else { return false }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || (host.hasPrefix("127.") && CookieDomain.isAddress(host))
    }

    private func isPublicSuffix(_ domain: String) -> Bool {
        publicSuffixes?.isPublicSuffix(domain) ?? PublicSuffixRules.builtIn.isPublicSuffix(domain)
    }

    /// Whether a cookie is what the prefix of its name promises (§5.7, steps 20 to 22).
    private static func keepsPrefix(
        name: String, value: String, isSecure: Bool, isHostOnly: Bool, path: String?
    ) -> Bool {
        // A value that looks like a pair would be one to the server that reads it.
        if name.isEmpty { return !hasPrefix(value, "__secure-") && !hasPrefix(value, "__host-") }
        if hasPrefix(name, "__secure-") { return isSecure }
        if hasPrefix(name, "__host-") { return isSecure && isHostOnly && path == "/" }
        return true
    }

    private static func hasPrefix(_ text: String, _ prefix: String) -> Bool {
        let start = text.utf8.prefix(prefix.utf8.count).map { byte in
            (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
        }
        return start.elementsEqual(prefix.utf8)
    }
}
