/// A list of public suffixes: domains under which anyone can register names, such as `co.uk`.
///
/// A cookie or a ``HostPattern`` must not cover a public suffix.
public protocol PublicSuffixList: Sendable {
    /// Whether a domain, in lower case, in ASCII and without a leading or trailing dot, is a public suffix,
    /// such as `co.uk`.
    ///
    /// Called for every cookie with a `Domain` attribute, so it must be fast.
    func isPublicSuffix(_ domain: String) -> Bool
}

/// Public suffixes from rules in the format of publicsuffix.org.
///
/// ``system``, the default of cookie jars, host patterns and pins, is complete where libpsl is installed. A
/// jar can have a list of its own, such as the file of the Debian package `publicsuffix`:
///
///     let text = try String(contentsOfFile: "/usr/share/publicsuffix/public_suffix_list.dat", encoding: .utf8)
///     configuration.cookieJar = CookieJar(publicSuffixes: PublicSuffixRules(parsing: text))
public struct PublicSuffixRules: PublicSuffixList {
    private var suffixes: Set<String> = []
    /// The parent domains of wildcard rules: `ck` for `*.ck`.
    private var wildcards: Set<String> = []
    private var exceptions: Set<String> = []
    private var library: PublicSuffixLibrary?
    /// The origin of the rules.
    public private(set) var source = Source.parsed
    /// Whether these are the built-in rules in place of a library that is not installed.
    private(set) var isSubstitute = false

    /// The origin of rules.
    public enum Source: Sendable, Hashable {
        /// The complete list in libpsl, as old as the installed library.
        case libpsl
        /// The common suffixes of ``PublicSuffixRules/builtIn``.
        case builtIn
        /// Text that the app supplied.
        case parsed
    }

    /// Creates rules from text with one rule per line; skips blank lines and lines that start with `//`.
    ///
    /// Non-ASCII names become `xn--…`. Rules that are not valid host names are skipped.
    public init(parsing text: String) {
        for line in text.utf8.split(whereSeparator: ByteSet("\r\n").contains) {
            guard let word = line.split(whereSeparator: ByteSet(" \t").contains).first else {
                continue
            }
            let rule = Substring(word)
            if !rule.starts(withBytes: "//") { add(rule) }
        }
    }

    /// The built-in rules: every single label (`com`, `localhost`), every IP address, and the common registries
    /// and hosting services with several labels (`co.uk`, `github.io`).
    ///
    /// The rules are not complete. Under a missing suffix, the server of one customer can set cookies for the
    /// server of another customer. If this matters, install libpsl or parse the complete list.
    public static let builtIn = PublicSuffixRules(compact: CommonPublicSuffixes.text)

    /// The rules of this system, loaded at the first use.
    ///
    /// On Linux these are the rules in libpsl, if `libpsl.so.5` is installed; the packages of libcurl depend on
    /// it. Otherwise, and on Apple platforms, they are ``builtIn``. The first request that receives a cookie
    /// then emits ``RequestEvent/Kind/publicSuffixesIncomplete``, once for each jar.
    public static let system = PublicSuffixRules(installed: PublicSuffixLibrary.installed)

    /// Creates the rules of a library, or the built-in ones in its place.
    package init(installed library: PublicSuffixLibrary?) {
        guard let library else {
            self = .builtIn
            isSubstitute = true
            return
        }
        self.library = library
        source = .libpsl
    }

    /// Whether the matching rule covers the whole domain.
    ///
    /// Always true for single labels and IP addresses. One trailing dot has no meaning.
    public func isPublicSuffix(_ domain: String) -> Bool {
        let domain = HostName.withoutTrailingDot(domain)
        guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        if let library {
            return CookieDomain.isAddress(domain) || library.isPublicSuffix(domain)
        }
        if exceptions.contains(domain) { return false }
        if suffixes.contains(domain) || CookieDomain.isAddress(domain) { return true }
        return wildcards.contains(String(domain[domain.utf8.index(after: dot)...]))
    }

    private mutating func add(_ rule: Substring) {
        if let domain = rule.dropping(prefix: "*.") {
            if let name = Self.ascii(domain) { wildcards.insert(name) }
        } else if let domain = rule.dropping(prefix: "!") {
            if let name = Self.ascii(domain) { exceptions.insert(name) }
        } else if let name = Self.ascii(rule) {
            suffixes.insert(name)
        }
    }

    private static func ascii(_ name: Substring) -> String? {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercasedASCII() }
        return try? HostName.canonical(name.utf8)
    }

    /// Parses lines of the form `uk: co ac *.sch`: each word is a rule below the domain before the colon.
    private init(compact text: String) {
        source = .builtIn
        for line in text.pieces(at: "\n") {
            let parts = line.pieces(at: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            for word in parts[1].pieces(at: " ") { add("\(word).\(parts[0])"[...]) }
        }
    }
}
