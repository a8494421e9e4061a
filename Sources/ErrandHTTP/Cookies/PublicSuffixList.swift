/// A list of public suffixes: domains under which anyone can register names, such as `co.uk`.
///
/// A cookie or a ``HostPattern`` must not cover a public suffix.
public protocol PublicSuffixList: Sendable {
    /// Whether a domain, in lower case and without a leading dot, is a public suffix, such as `co.uk`.
    ///
    /// Called for every cookie with a `Domain` attribute, so it must be fast.
    func isPublicSuffix(_ domain: String) -> Bool
}

/// Public suffixes from rules in the format of publicsuffix.org.
///
/// ``builtIn`` contains only the common suffixes. For the complete list, parse the file of the Debian
/// package `publicsuffix`:
///
///     let text = try String(contentsOfFile: "/usr/share/publicsuffix/public_suffix_list.dat", encoding: .utf8)
///     configuration.cookieJar = CookieJar(publicSuffixes: PublicSuffixRules(parsing: text))
public struct PublicSuffixRules: PublicSuffixList {
    private var suffixes: Set<String> = []
    /// The parent domains of wildcard rules: `ck` for `*.ck`.
    private var wildcards: Set<String> = []
    private var exceptions: Set<String> = []

    /// Creates rules from text with one rule per line; skips blank lines and lines that start with `//`.
    ///
    /// Non-ASCII names become `xn--…`. Rules that are not valid host names are skipped.
    public init(parsing text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let rule = line.split(whereSeparator: \.isWhitespace).first,
                !rule.hasPrefix("//")
            else { continue }
            add(rule)
        }
    }

    /// The built-in rules: every single label (`com`, `localhost`), every IP address, and the common registries
    /// and hosting services with several labels (`co.uk`, `github.io`).
    ///
    /// The rules are not complete. Under a missing suffix, the server of one customer can set cookies for the
    /// server of another customer. If this matters, parse the complete list.
    public static let builtIn = PublicSuffixRules(compact: CommonPublicSuffixes.text)

    /// Whether the matching rule covers the whole domain.
    ///
    /// Always true for single labels and IP addresses.
    public func isPublicSuffix(_ domain: String) -> Bool {
        guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        if exceptions.contains(domain) { return false }
        if suffixes.contains(domain) || CookieDomain.isAddress(domain) { return true }
        return wildcards.contains(String(domain[domain.utf8.index(after: dot)...]))
    }

    private mutating func add(_ rule: Substring) {
        if rule.hasPrefix("*.") {
            if let name = Self.ascii(rule.dropFirst(2)) { wildcards.insert(name) }
        } else if rule.hasPrefix("!") {
            if let name = Self.ascii(rule.dropFirst()) { exceptions.insert(name) }
        } else if let name = Self.ascii(rule) {
            suffixes.insert(name)
        }
    }

    private static func ascii(_ name: Substring) -> String? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
        return (try? URI(parsing: "http://\(name)/"))?.host
    }

    /// Parses lines of the form `uk: co ac *.sch`: each word is a rule below the domain before the colon.
    private init(compact text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            for word in parts[1].split(separator: " ") { add("\(word).\(parts[0])"[...]) }
        }
    }
}
