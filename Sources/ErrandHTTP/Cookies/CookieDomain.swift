/// Compares domains of cookies (RFC 6265bis §5.1.2, §5.1.3).
package enum CookieDomain {
    /// The domain in lower case without one leading and one trailing dot.
    package static func canonical(_ domain: String) -> String {
        let lowered = domain.utf8.contains(where: isUpper) ? domain.lowercasedASCII() : domain
        let name = lowered.dropping(prefix: ".").map { String($0) } ?? lowered
        return HostName.withoutTrailingDot(name)
    }

    /// Whether the text begins with a dot, which means a domain with its subdomains (RFC 6265 §4.1.2.3).
    package static func includesSubdomains(_ domain: String) -> Bool {
        domain.utf8.first == UInt8(ascii: ".")
    }

    /// The domain of a cookie that the app creates, in the form of a URL's host; otherwise as
    /// ``canonical(_:)``.
    static func ofApp(_ domain: String) -> String {
        let name = canonical(domain)
        return HostName.named(name) ?? name
    }

    /// Whether a host is the domain or one of its subdomains; an IP address must be equal.
    package static func matches(host: String, domain: String) -> Bool {
        if host == domain { return true }
        let (host8, domain8) = (host.utf8, domain.utf8)
        guard host8.count > domain8.count, !domain8.isEmpty, host.ends(withBytes: domain) else {
            return false
        }
        let border = host8.index(host8.endIndex, offsetBy: -domain8.count - 1)
        return host8[border] == UInt8(ascii: ".") && !isAddress(host)
    }

    /// Whether a host is an IP address.
    package static func isAddress(_ host: String) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") || host.utf8.contains(UInt8(ascii: ":")) {
            return true
        }
        let parts = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    /// The host and all its parent domains: `a.b.c`, `b.c`, `c`.
    static func selfAndParents(of host: String) -> [Substring] {
        if isAddress(host) { return [host[...]] }
        var domains = [host[...]]
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if !rest.isEmpty { domains.append(rest) }
        }
        return domains
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }
}
