public import ErrandSystem

/// An absolute or relative URI reference, split into its components (RFC 3986 §3).
///
/// Components are text. Parsing percent-encodes non-ASCII characters and characters that a URI must not
/// contain, and keeps existing escapes. It accepts text that is not a valid request URL;
/// ``HTTPURL/isAbsoluteHTTP`` and the request builder check that.
///
/// Setting a component applies the same rules, so that no component can move into another one: in a path, `?`
/// and `#` become escapes, and a path after a host begins with a slash. Text that is not a scheme, a host or a
/// port makes the URI invalid: see ``isValid``.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// The scheme in lower case, such as `https`; `nil` for a relative reference.
    ///
    /// Text that is not a scheme makes the URI invalid.
    public var scheme: String? {
        get { shared.value.scheme }
        set { change { $0.set(scheme: newValue) } }
    }
    /// The user info (`user:password`), percent-encoded.
    public var userInfo: String? {
        get { shared.value.userInfo }
        set { change { $0.userInfo = Self.encoded(newValue, keeping: URIBytes.userInfo) } }
    }
    /// The host in canonical form.
    ///
    /// Names are in lower case and in ASCII (`xn--…`). IPv4 addresses are in dotted decimal form: `127.1`,
    /// `0x7f.1` and `2130706433` become `127.0.0.1`. IPv6 addresses have brackets and the form of RFC 5952,
    /// and no zone. Text that is not a host, such as text with a port or an `@`, makes the URI invalid.
    public var host: String? {
        get { shared.value.host }
        set { change { $0.set(host: newValue) } }
    }
    /// The port; `nil` if the text has none.
    ///
    /// A number outside 1 to 65535 makes the URI invalid.
    public var port: Int? {
        get { shared.value.port }
        set { change { $0.set(port: newValue) } }
    }
    /// The path, percent-encoded.
    ///
    /// After a host it is empty or begins with a slash, which is added if it is missing.
    public var path: String {
        get { shared.value.path }
        set { change { $0.set(path: newValue) } }
    }
    /// The query between `?` and `#`, percent-encoded.
    public var query: String? {
        get { shared.value.query }
        set { change { $0.query = Self.encoded(newValue, keeping: URIBytes.query) } }
    }
    /// The fragment after `#`, percent-encoded.
    ///
    /// It is never sent.
    public var fragment: String? {
        get { shared.value.fragment }
        set { change { $0.fragment = Self.encoded(newValue, keeping: URIBytes.query) } }
    }

    private struct Components: OptionSet, Hashable {
        let rawValue: UInt8

        static let scheme = Components(rawValue: 1)
        static let host = Components(rawValue: 2)
        static let port = Components(rawValue: 4)
    }

    private struct Fields: Sendable, Hashable {
        var scheme: String?
        var userInfo: String?
        var host: String?
        var port: Int?
        var path: String
        var query: String?
        var fragment: String?
        /// The components that were last set to invalid values; their properties are `nil`.
        var invalid: Components = []

        mutating func set(scheme text: String?) {
            let isInvalid = text.map { !URIBytes.isScheme($0) } ?? false
            scheme = isInvalid ? nil : text?.lowercasedASCII()
            mark(.scheme, isInvalid)
        }

        mutating func set(host text: String?) {
            host = text.flatMap { try? HostName.canonical($0.utf8) }
            mark(.host, text != nil && host == nil)
            beginPathWithSlash()
        }

        mutating func set(port number: Int?) {
            let isInvalid = number.map { !URIBytes.ports.contains($0) } ?? false
            port = isInvalid ? nil : number
            mark(.port, isInvalid)
        }

        mutating func set(path text: String) {
            path = HTTPURL.encoded(text, keeping: URIBytes.path) ?? ""
            beginPathWithSlash()
        }

        private mutating func beginPathWithSlash() {
            if host != nil, let first = path.utf8.first, first != UInt8(ascii: "/") {
                path = "/" + path
            }
        }

        private mutating func mark(_ component: Components, _ isInvalid: Bool) {
            if isInvalid { invalid.insert(component) } else { invalid.remove(component) }
        }
    }

    // One reference, because a URL is copied from the request to the transfer and the response (decision 10).
    private var shared: Shared<Fields>

    private var invalid: Components { shared.value.invalid }

    /// The address of the components, equal for copies only, and unique as long as a copy exists.
    package var identity: Int { Int(bitPattern: ObjectIdentifier(shared)) >> 4 }

    /// Whether there is no user, query and fragment.
    package var hasOnlyPath: Bool {
        shared.value.query == nil && shared.value.userInfo == nil && shared.value.fragment == nil
    }

    /// Whether the scheme is https.
    package var isHTTPS: Bool {
        // Most of the others differ in length, which costs less to compare.
        guard let scheme = shared.value.scheme, scheme.utf8.count == 5 else { return false }
        return scheme == "https"
    }

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Whether all components are equal.
    public static func == (one: Self, other: Self) -> Bool {
        one.shared === other.shared || one.shared.value == other.shared.value
    }

    /// Hashes all components.
    public func hash(into hasher: inout Hasher) { hasher.combine(shared.value) }

    package init(
        scheme: String? = nil, userInfo: String? = nil, host: String? = nil, port: Int? = nil,
        path: String = "", query: String? = nil, fragment: String? = nil
    ) {
        var fields = Fields(path: "")
        fields.set(scheme: scheme)
        fields.userInfo = Self.encoded(userInfo, keeping: URIBytes.userInfo)
        fields.set(host: host)
        fields.set(port: port)
        fields.set(path: path)
        fields.query = Self.encoded(query, keeping: URIBytes.query)
        fields.fragment = Self.encoded(fragment, keeping: URIBytes.query)
        shared = Shared(fields)
    }

    /// Creates a URI from components that have the canonical form already.
    init(
        canonicalScheme scheme: String?, userInfo: String?, host: String?, port: Int?,
        path: String, query: String?, fragment: String?
    ) {
        shared = Shared(
            Fields(
                scheme: scheme, userInfo: userInfo, host: host, port: port, path: path,
                query: query, fragment: fragment))
    }

    /// Whether scheme, host and port were last set to valid values; always true after parsing.
    ///
    /// An invalid component is `nil`, and stands as `invalid` in ``string``, which then cannot be parsed
    /// as a request URL. A request with an invalid URL fails with ``RequestError/Code/invalidURL`` before
    /// anything is sent.
    public var isValid: Bool { invalid.isEmpty }

    /// Whether this is an absolute `http` or `https` URL with a host.
    public var isAbsoluteHTTP: Bool {
        let fields = shared.value
        return (fields.scheme == "http" || fields.scheme == "https")
            && fields.host?.isEmpty == false && fields.invalid.isEmpty
    }

    /// The reason why no request can be sent to this URL, as a sentence; `nil` if one can.
    package var problem: String? {
        if isAbsoluteHTTP { return nil }
        if invalid.contains(.scheme) {
            return "The URL's scheme was set to text that is not a scheme. Use http or https."
        }
        if invalid.contains(.host) {
            return
                "The URL's host was set to text that is not a host. Set only the host name or the IP "
                + "address there, without port, user info and path."
        }
        if invalid.contains(.port) {
            return "The URL's port was set to a number outside 1 to 65535."
        }
        return "The URL is not an absolute http or https URL. Add a scheme and a host."
    }

    /// The port to connect to: ``port``, otherwise 443 for `https` and 80 for `http`.
    public var effectivePort: Int { port ?? (isHTTPS ? 443 : 80) }

    /// The origin (RFC 6454) as `scheme://host:port` with the effective port.
    ///
    /// Credentials are forwarded in a redirect only within the same origin.
    public var origin: String { "\(scheme ?? "")://\(host ?? ""):\(effectivePort)" }

    /// Whether both URLs are valid and have the same scheme, host and effective port.
    package func hasOrigin(of other: HTTPURL) -> Bool {
        isValid && other.isValid && scheme == other.scheme && host == other.host
            && effectivePort == other.effectivePort
    }

    /// `host[:port]`, the form of the `Host` header.
    public var authority: String {
        let host = host ?? (invalid.contains(.host) ? "[invalid]" : "")
        if invalid.contains(.port) { return host + ":invalid" }
        guard let port else { return host }
        return host + ":" + String(port)
    }

    /// The complete reference as text, the same as ``string``.
    public var description: String { string }

    /// The complete reference as text (RFC 3986 §5.3), with user info and query.
    public var string: String { text(userInfo: userInfo, query: query, fragment: fragment) }

    /// The reference as text without user info and fragment, which are not sent.
    package var requestText: String { text(userInfo: nil, query: query, fragment: nil) }

    /// Whether ``string`` is this text.
    package func hasText(_ text: String) -> Bool {
        let fields = shared.value
        // The rest is rare and not worth a comparison of its own.
        guard fields.invalid.isEmpty, fields.userInfo == nil, fields.fragment == nil,
            let scheme = fields.scheme, let host = fields.host
        else { return text == string }
        var text = text
        return text.withUTF8 { bytes in
            var rest = bytes[...]
            func begins(_ part: String) -> Bool {
                var part = part
                return part.withUTF8 { part in
                    guard rest.count >= part.count else { return false }
                    defer { rest = rest.dropFirst(part.count) }
                    guard let one = part.baseAddress, let base = bytes.baseAddress else {
                        return true
                    }
                    return memcmp(one, base + rest.startIndex, part.count) == 0
                }
            }
            guard begins(scheme), begins("://"), begins(host) else { return false }
            if let port = fields.port {
                guard begins(":"), begins(String(port)) else { return false }
            }
            guard begins(fields.path) else { return false }
            if let query = fields.query {
                guard begins("?"), begins(query) else { return false }
            }
            return rest.isEmpty
        }
    }

    /// The URL as Foundation's; `nil` if it is not ``isValid``, or Foundation does not accept it.
    public var url: URL? { isValid ? URL(string: string) : nil }

    /// The URL without user info, query and fragment, which can contain secrets.
    package var withoutSecrets: HTTPURL {
        if hasOnlyPath { return self }
        var url = self
        url.change { ($0.userInfo, $0.query, $0.fragment) = (nil, nil, nil) }
        return url
    }

    /// The text without user info, query values and fragment, which is safe for logs.
    public var redacted: String {
        text(userInfo: nil, query: query == nil ? nil : "…", fragment: nil)
    }

    /// The text with other components in place of the URI's own.
    func text(userInfo: String?, query: String?, fragment: String?) -> String {
        let fields = shared.value
        let hasAuthority = fields.host != nil || fields.invalid.contains(.host)
        let capacity =
            (fields.scheme?.utf8.count ?? 0) + (userInfo?.utf8.count ?? 0)
            + (fields.host?.utf8.count ?? 0) + fields.path.utf8.count + (query?.utf8.count ?? 0)
            + (fragment?.utf8.count ?? 0)
            + Self.mostDelimiters
        // Written at once, because observed requests need this text, and appending to a string costs more.
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            var count = 0
            func append(_ text: String) {
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[count...])
                count += rest.initialize(fromContentsOf: text.utf8)
            }
            if let scheme = fields.scheme {
                append(scheme)
                append(":")
            } else if fields.invalid.contains(.scheme) {
                append("invalid:")
            }
            if hasAuthority {
                append("//")
                if let userInfo {
                    append(userInfo)
                    append("@")
                }
                append(fields.host ?? "[invalid]")
                if fields.invalid.contains(.port) {
                    append(":invalid")
                } else if let port = fields.port {
                    append(":")
                    append(String(port))
                }
            } else if fields.path.utf8.starts(with: "//".utf8) {
                // Otherwise the path would be parsed as a host (WHATWG URL §4.5).
                append("/.")
            } else if count == 0, URIBytes.startsWithScheme(fields.path) {
                append("./")
            }
            append(fields.path)
            if let query {
                append("?")
                append(query)
            }
            if let fragment {
                append("#")
                append(fragment)
            }
            return count
        }
    }

    /// The length of `invalid:`, `//`, `@`, `[invalid]`, `:invalid`, `?` and `#`; a port is no longer than `:invalid`.
    private static let mostDelimiters = 30

    private static func encoded(_ text: String?, keeping set: ByteSet) -> String? {
        guard let text, !PercentEncoding.isEncoded(text.utf8, keeping: set) else { return text }
        return PercentEncoding.encoded(text.utf8, keeping: set)
    }
}
