/// Which hosts something is for: one (`api.example.com`), or all below a domain (`*.example.com`,
/// without `example.com` itself).
///
/// Ports and schemes do not matter.
///
/// A star must stand alone in front, before a domain that belongs to somebody: `*.com` and `*.co.uk` match nothing,
/// and requests of a configuration with such a pattern fail with ``RequestError/Code/invalidConfiguration``.
public struct HostPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The pattern in lower case.
    public let description: String
    private let suffix: String?
    /// Whether the pattern can match at all.
    public let isValid: Bool

    /// Makes a pattern; see the type's discussion for text that is none.
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

    /// Makes a pattern of a literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// Whether a host is meant, in whatever case it is written.
    public func matches(_ host: String) -> Bool {
        guard isValid else { return false }
        // Almost always in lower case already, which costs nothing.
        if host.utf8.contains(where: { (0x41...0x5a).contains($0) }) {
            return matches(host.lowercased())
        }
        guard let suffix else { return host == description }
        return host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
            && !CookieDomain.isAddress(host)
    }

    /// Throws ``RequestError/Code/invalidConfiguration`` where the pattern matches nothing.
    ///
    /// - Parameter owner: Where it stands: the property's name.
    func check(in owner: String) throws(RequestError) {
        if isValid { return }
        throw RequestError(
            .invalidConfiguration, stage: .adapt,
            "The host pattern \(self) of \(owner) matches nothing; write a host, or a star and a domain: *.example.com."
        )
    }

    /// Whether the other pattern is the more particular one: an exact host before a domain, a longer before a
    /// shorter.
    func isWeaker(than other: HostPattern) -> Bool {
        if (suffix == nil) != (other.suffix == nil) { return other.suffix == nil }
        return description.utf8.count < other.description.utf8.count
    }
}
