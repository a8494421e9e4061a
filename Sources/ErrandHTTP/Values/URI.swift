/// An absolute or relative URI reference, split into its components (RFC 3986 §3).
///
/// Components are text. Parsing percent-encodes non-ASCII characters and characters that a URI must not
/// contain, and keeps existing escapes. It accepts text that is not a valid request URL;
/// ``URI/isAbsoluteHTTP`` and the request builder check that.
public struct URI: Sendable, Hashable, CustomStringConvertible {
    /// The scheme in lower case, such as `https`; `nil` for a relative reference.
    public var scheme: String?
    /// The user info (`user:password`), percent-encoded.
    public var userInfo: String?
    /// The host in lower case; an IPv6 literal keeps its brackets.
    public var host: String?
    /// The port; `nil` if the text has none.
    public var port: Int?
    /// The path, percent-encoded.
    public var path: String
    /// The query between `?` and `#`, percent-encoded.
    public var query: String?
    /// The fragment after `#`, percent-encoded.
    ///
    /// It is never sent.
    public var fragment: String?

    package init(
        scheme: String? = nil, userInfo: String? = nil, host: String? = nil, port: Int? = nil,
        path: String = "", query: String? = nil, fragment: String? = nil
    ) {
        self.scheme = scheme
        self.userInfo = userInfo
        self.host = host
        self.port = port
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// Whether this is an absolute `http` or `https` URL with a host.
    public var isAbsoluteHTTP: Bool {
        (scheme == "http" || scheme == "https") && host?.isEmpty == false
    }

    /// The port to connect to: ``port``, otherwise 443 for `https` and 80 for `http`.
    public var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }

    /// The origin (RFC 6454) as `scheme://host:port` with the effective port.
    ///
    /// Credentials are forwarded in a redirect only within the same origin.
    public var origin: String { "\(scheme ?? "")://\(host ?? ""):\(effectivePort)" }

    /// `host[:port]`, the form of the `Host` header.
    public var authority: String {
        guard let port else { return host ?? "" }
        return "\(host ?? ""):\(port)"
    }

    /// The complete reference as text.
    public var description: String { string }

    /// The complete reference as text (RFC 3986 §5.3).
    public var string: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if host != nil {
            text += "//"
            if let userInfo { text += userInfo + "@" }
            text += authority
        }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// The text without user info, query values and fragment, which is safe for logs.
    public var redacted: String {
        var copy = self
        copy.userInfo = nil
        copy.fragment = nil
        if copy.query != nil { copy.query = "…" }
        return copy.string
    }
}
