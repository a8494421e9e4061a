package import ErrandSystem

/// Decides whether a cookie is stored, and in which form (RFC 6265bis §5.7); pure functions.
package struct CookieAcceptance {
    /// The list that the jar was created with; `nil` uses ``PublicSuffixRules/system``, loaded at the first use.
    private let ownSuffixes: (any PublicSuffixList)?
    private let trustsLoopback: Bool

    package init(publicSuffixes: (any PublicSuffixList)?, trustsLoopback: Bool) {
        ownSuffixes = publicSuffixes
        self.trustsLoopback = trustsLoopback
    }

    /// Whether the list is the incomplete built-in one, because the system has no other.
    var lacksCompleteSuffixes: Bool {
        guard let ownSuffixes else { return PublicSuffixRules.system.isSubstitute }
        return (ownSuffixes as? PublicSuffixRules)?.isSubstitute == true
    }

    /// Evaluates a `Set-Cookie` field from a server.
    ///
    /// ``CookieStorageState`` checks whether the cookie would hide a `Secure` cookie.
    package func evaluate(
        _ text: String, from url: HTTPURL, now: Date
    ) -> Result<Cookie, CookieRefusal> {
        let host = HostName.withoutTrailingDot(url.host ?? "")
        guard !host.isEmpty else { return .failure(.foreignDomain) }
        return SetCookie.parse(text, now: now).flatMap { set in
            guard set.domain.utf8.allSatisfy({ $0 < 0x80 }) else { return .failure(.invalidDomain) }
            var domain = set.domain
            guard domain.isEmpty || !HostName.hasEmptyLabel(domain) else {
                return .failure(.invalidDomain)
            }
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
                Self.satisfiesPrefix(
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

    /// Evaluates a cookie that the app sets; skips the checks that need a server's URL.
    package func evaluate(_ cookie: Cookie, now: Date) -> Result<Cookie, CookieRefusal> {
        guard !cookie.name.utf8.contains(where: SetCookie.isControl),
            !cookie.value.utf8.contains(where: SetCookie.isControl),
            !cookie.name.utf8.contains(where: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
            ),
            !cookie.value.utf8.contains(UInt8(ascii: ";"))
        else { return .failure(.controlCharacter) }
        if cookie.name.isEmpty, cookie.value.isEmpty { return .failure(.empty) }
        guard cookie.name.utf8.count + cookie.value.utf8.count <= SetCookie.maximumPairLength else {
            return .failure(.tooLong)
        }
        guard let cookie = canonical(cookie) else { return .failure(.invalidDomain) }
        guard cookie.path.utf8.first == UInt8(ascii: "/"), cookie.path.utf8.count <= 1024 else {
            return .failure(.invalidPath)
        }
        if !cookie.isHostOnly, isPublicSuffix(cookie.domain) {
            return .failure(.publicSuffix)
        }
        guard
            Self.satisfiesPrefix(
                name: cookie.name, value: cookie.value, isSecure: cookie.isSecure,
                isHostOnly: cookie.isHostOnly, path: cookie.path)
        else { return .failure(.prefix) }
        var limited = cookie
        if let expires = cookie.expires {
            limited.expires = min(expires, now + SetCookie.maximumAge)
        }
        return .success(limited)
    }

    /// The cookie with its domain in canonical form; `nil` if the domain is not a host name in ASCII.
    func canonical(_ cookie: Cookie) -> Cookie? {
        guard let domain = HostName.named(CookieDomain.canonical(cookie.domain)) else {
            return nil
        }
        var cookie = cookie
        if CookieDomain.includesSubdomains(cookie.domain) { cookie.isHostOnly = false }
        cookie.domain = domain
        return cookie
    }

    /// A saved cookie as the jar stores it; `nil` if no request could receive it, or too many could.
    ///
    /// A process with another public suffix list may have saved it.
    func restored(_ cookie: Cookie) -> Cookie? {
        guard let cookie = canonical(cookie), cookie.isHostOnly || !isPublicSuffix(cookie.domain)
        else { return nil }
        return cookie
    }

    /// Whether `Secure` cookies may be sent to a URL and accepted from it.
    package func isSecure(_ url: HTTPURL) -> Bool {
        if url.isHTTPS { return true }
        guard trustsLoopback, let host = url.host.map(HostName.withoutTrailingDot) else {
            return false
        }
        return host == "localhost" || host.ends(withBytes: ".localhost") || host == "[::1]"
            || (host.starts(withBytes: "127.") && CookieDomain.isAddress(host))
    }

    private func isPublicSuffix(_ domain: String) -> Bool {
        ownSuffixes?.isPublicSuffix(domain) ?? PublicSuffixRules.system.isPublicSuffix(domain)
    }

    /// Whether a cookie meets the requirements of its name prefix (RFC 6265bis §5.7, steps 20 to 22).
    private static func satisfiesPrefix(
        name: String, value: String, isSecure: Bool, isHostOnly: Bool, path: String?
    ) -> Bool {
        // A server would read a nameless cookie with such a value as a name and a value.
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
