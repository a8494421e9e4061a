/// Says under which domains anybody may register names: no cookie and no ``HostPattern`` may span such a domain.
public protocol PublicSuffixList: Sendable {
    /// Whether a domain, in lower case and without a leading dot, is a public suffix, such as `co.uk`.
    ///
    /// Called for every cookie with a `Domain`; be quick.
    func isPublicSuffix(_ domain: String) -> Bool
}

/// Public suffixes by rules as publicsuffix.org publishes them.
///
/// ``builtIn`` holds the common ones only. For the whole list, parse the file that the Debian package
/// `publicsuffix` installs:
///
///     let text = try String(contentsOfFile: "/usr/share/publicsuffix/public_suffix_list.dat", encoding: .utf8)
///     configuration.cookieJar = CookieJar(publicSuffixes: PublicSuffixRules(parsing: text))
public struct PublicSuffixRules: PublicSuffixList {
    private var suffixes: Set<String> = []
    /// What stands behind the star of a rule such as `*.ck`.
    private var wildcards: Set<String> = []
    private var exceptions: Set<String> = []

    /// Makes rules of text, one rule a line; blank lines and lines that begin with `//` are skipped.
    ///
    /// Names beyond ASCII are converted to `xn--…`; rules that can be no host are skipped.
    public init(parsing text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let rule = line.split(whereSeparator: \.isWhitespace).first,
                !rule.hasPrefix("//")
            else { continue }
            add(rule)
        }
    }

    /// The rules that come with the framework: every single label (`com`, `localhost`), every IP address, and the
    /// common registries and hosting services with more labels (`co.uk`, `github.io`).
    ///
    /// It is not the complete list: under a suffix that it lacks, one customer's server may set cookies for
    /// another's. Where that matters, parse the whole list.
    public static let builtIn = PublicSuffixRules(compact: CommonPublicSuffixes.text)

    /// Whether the prevailing rule names the whole domain.
    ///
    /// Single labels and IP addresses always are.
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

    /// Lines of the form `uk: co ac *.sch`: each word stands before the name in front of the colon.
    private init(compact text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            for word in parts[1].split(separator: " ") { add("\(word).\(parts[0])"[...]) }
        }
    }
}
