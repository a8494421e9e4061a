/// An absolute or relative reference in its five components (RFC 3986 §3), kept as text.
///
/// Parsing never fails on strange text; ``URI/isAbsoluteHTTP`` and the request builder say what may be
/// sent. Text beyond ASCII and characters that a URI may not hold are percent-encoded while parsing, octets
/// that are encoded already stay as they are.
public struct URI: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https` in lower case, or whatever else stood before the colon.
    public var scheme: String?
    /// `user:password`, still encoded.
    public var userInfo: String?
    /// The host in lower case; an IPv6 literal keeps its brackets.
    public var host: String?
    /// The port, where one is written.
    public var port: Int?
    /// The path, still encoded.
    public var path: String
    /// What stands between `?` and `#`, still encoded.
    public var query: String?
    /// What stands behind `#`, still encoded.
    ///
    /// Never sent.
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

    /// Whether this is a complete `http` or `https` address with a host.
    public var isAbsoluteHTTP: Bool {
        (scheme == "http" || scheme == "https") && host?.isEmpty == false
    }

    /// The port that will be connected to: the written one, else 443 for `https` and 80 for `http`.
    public var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }

    /// `scheme://host:port` with the effective port: what decides whether credentials may travel along
    /// (RFC 6454).
    public var origin: String { "\(scheme ?? "")://\(host ?? ""):\(effectivePort)" }

    /// `host[:port]` as it stands in a `Host` header.
    public var authority: String {
        guard let port else { return host ?? "" }
        return "\(host ?? ""):\(port)"
    }

    /// The whole reference as text.
    public var description: String { string }

    /// The whole reference as text (RFC 3986 §5.3).
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

    /// The text without user info, query values and fragment: safe for a log.
    public var redacted: String {
        var copy = self
        copy.userInfo = nil
        copy.fragment = nil
        if copy.query != nil { copy.query = "…" }
        return copy.string
    }
}
