/// A pattern of host names: one host (`api.example.com`), or all subdomains of a domain (`*.example.com`,
/// which does not include `example.com`).
///
/// Ports and schemes are ignored.
///
/// A wildcard must be the first label, followed by a registrable domain: `*.com` and `*.co.uk` match no
/// host. Requests of a configuration with an invalid pattern fail with
/// ``RequestError/Code/invalidConfiguration``.
public struct HostPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The pattern in lower case.
    public let description: String
    private let suffix: String?
    /// Whether the pattern is valid; an invalid pattern matches no host.
    public let isValid: Bool

    /// Creates a pattern; see ``isValid`` for invalid text.
    public init(_ pattern: String) {
        description = pattern.lowercased()
        let isWildcard = description.hasPrefix("*.")
        let name = isWildcard ? String(description.dropFirst(2)) : description
        suffix = isWildcard ? "." + name : nil
        isValid =
            !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains(UInt8(ascii: "*"))
            && !name.utf8.contains { $0 <= 0x20 || $0 >= 0x7f || $0 == UInt8(ascii: "/") }
            && !(isWildcard && PublicSuffixRules.builtIn.isPublicSuffix(name))
    }

    /// Creates a pattern from a literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// Whether the pattern matches a host, compared case-insensitively.
    public func matches(_ host: String) -> Bool {
        guard isValid else { return false }
        // Fast path: hosts are nearly always in lower case.
        if host.utf8.contains(where: { (0x41...0x5a).contains($0) }) {
            return matches(host.lowercased())
        }
        guard let suffix else { return host == description }
        return host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
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
