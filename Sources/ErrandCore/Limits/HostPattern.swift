import ErrandHTTP

/// A pattern of host names: one host (`api.example.com`), or all subdomains of a domain (`*.example.com`,
/// which does not include `example.com`).
///
/// Ports and schemes are ignored. Hosts are compared in canonical form: `Bücher.example` equals
/// `xn--bcher-kva.example`, `127.1` equals `127.0.0.1`, `::1` equals `[0:0:0:0:0:0:0:1]`, and one trailing dot
/// has no meaning.
///
/// A wildcard must be the first label, followed by a registrable domain: `*.com` and `*.co.uk` match no
/// host. Requests of a configuration with an invalid pattern fail with
/// ``RequestError/Code/invalidConfiguration``.
public struct HostPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The pattern in canonical form; an invalid one in lower case.
    public let description: String
    private let suffix: String?
    /// Whether the pattern is valid; an invalid pattern matches no host.
    public let isValid: Bool

    /// Creates a pattern; see ``isValid`` for invalid text.
    public init(_ pattern: String) {
        let domain = pattern.dropping(prefix: "*.")
        let isWildcard = domain != nil
        let name = HostName.named(domain.map { String($0) } ?? pattern)
        guard let name, !name.utf8.contains(UInt8(ascii: "*")),
            !isWildcard || !PublicSuffixRules.system.isPublicSuffix(name)
        else {
            description = pattern.lowercasedASCII()
            suffix = nil
            isValid = false
            return
        }
        description = isWildcard ? "*." + name : name
        suffix = isWildcard ? "." + name : nil
        isValid = true
    }

    /// Creates a pattern from a literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// Whether the pattern matches a host, in any spelling.
    public func matches(_ host: String) -> Bool {
        guard isValid else { return false }
        let host = HostName.compared(host)
        guard let suffix else { return host == description }
        return host.utf8.count > suffix.utf8.count && host.ends(withBytes: suffix)
            && !CookieDomain.isAddress(host)
    }

    /// Throws ``RequestError/Code/invalidConfiguration`` if the pattern is invalid.
    ///
    /// - Parameter owner: The name of the property that contains the pattern, for the error message.
    package func check(in owner: String) throws(RequestError) {
        if isValid { return }
        throw RequestError(
            .invalidConfiguration, stage: .adapt,
            "The host pattern \(self) in \(owner) matches no host. "
                + "Use a host name, or a wildcard and a domain such as *.example.com."
        )
    }

    /// Whether the other pattern is more specific: a host is more specific than a wildcard, and a longer
    /// pattern than a shorter one.
    package func isLessSpecific(than other: HostPattern) -> Bool {
        if (suffix == nil) != (other.suffix == nil) { return other.suffix == nil }
        return description.utf8.count < other.description.utf8.count
    }
}
