import ErrandTransport

/// The properties that two requests must share to use the same connection.
///
/// An object, because most requests have the key of the one before: it is compared and passed on as a reference.
final class ConnectionKey: Sendable, Hashable {
    /// The host and the port, which ``CurlConfiguration/connectionsPerHost`` limits.
    struct Host: Sendable, Hashable {
        let name: String
        let port: Int
    }

    /// The way to the server.
    enum Route: Sendable, Hashable {
        /// A connection to the server.
        case direct
        /// A connection to the server through a SOCKS proxy, or a tunnel through an HTTP proxy.
        case tunnel
        /// A connection to an HTTP proxy, which gets requests with the complete URL (RFC 9112
        /// §3.2.2).
        case absoluteForm
    }

    /// The protocols that a connection may carry.
    enum Version: Sendable, Hashable {
        case http11
        /// HTTP/2 or HTTP/1.1, as TLS negotiates (RFC 7301).
        case automatic
        /// HTTP/2 over TLS.
        case http2
        /// HTTP/2 without TLS (RFC 9113 §3.3).
        case priorKnowledge

        init(_ policy: TransportOptions.HTTPVersionPolicy, isSecure: Bool) {
            switch policy {
            case .automatic: self = isSecure ? .automatic : .http11
            case .http11: self = .http11
            case .http2: self = isSecure ? .http2 : .http11
            case .http2PriorKnowledge: self = isSecure ? .http2 : .priorKnowledge
            }
        }
    }

    /// The host of the server, or of the proxy with the absolute form.
    let host: Host
    let isSecure: Bool
    let route: Route
    /// Whether the server's chain must be valid; it depends on the time if pins expire.
    let requiresValidChain: Bool
    /// The transport options, of which only those that shape a connection are compared.
    ///
    /// The proxy is the one that the requests use; see ``TransportOptions/resolvingProxy(for:_:)``.
    let options: TransportOptions
    let version: Version

    /// Creates the key of a request.
    ///
    /// - Parameter options: The options of the request with its proxy.
    convenience init(
        _ request: TransportRequest, options: TransportOptions? = nil,
        requiresValidChain: Bool = true
    ) {
        let options = options ?? request.options
        let version = Version(options.httpVersion, isSecure: request.isSecure)
        let route = Self.route(to: request.url, options, version)
        if route == .absoluteForm, let url = ProxyRoute.url(options) {
            self.init(proxy: url, options)
        } else {
            self.init(
                request.url, options, route: route, requiresValidChain: requiresValidChain)
        }
    }

    init(
        _ url: HTTPURL, _ options: TransportOptions, route: Route = .direct,
        requiresValidChain: Bool = true
    ) {
        host = Host(name: url.host ?? "", port: url.effectivePort)
        isSecure = url.isHTTPS
        self.route = route
        self.requiresValidChain = requiresValidChain
        version = Version(options.httpVersion, isSecure: isSecure)
        var options = options
        // It belongs to the request, and the requests of an agent differ only in it.
        options.mayReplay = false
        self.options = options
    }

    /// The way of a request whose options name its proxy.
    private static func route(
        to url: HTTPURL, _ options: TransportOptions, _ version: Version
    ) -> Route {
        guard !options.hasDefaults, options.unixSocketPath == nil,
            case .url(let text, _) = options.proxy
        else { return .direct }
        // A proxy speaks HTTP/1.1, and libcurl connects to another address through a tunnel. A proxy would keep the
        // field `Upgrade` for itself (RFC 9110 §7.8, RFC 6455 §4.1).
        if url.isHTTPS || version == .priorKnowledge || options.isUpgrade
            || text.lowercasedASCII().starts(withBytes: "socks")
            || AddressOverride.route(to: url, options) != nil
            || ProxyRoute.url(options) == nil
        {
            return .tunnel
        }
        return .absoluteForm
    }

    private init(_ other: ConnectionKey, version: Version) {
        host = other.host
        isSecure = other.isSecure
        route = other.route
        requiresValidChain = other.requiresValidChain
        options = other.options
        self.version = version
    }

    /// The key that offers HTTP/1.1 only, because HTTP/2 cannot be negotiated, or because the server requires it.
    var forHTTP11: ConnectionKey { ConnectionKey(self, version: .http11) }

    /// Whether a request to a URL has this key, if it has no proxy, and the options with which the key was made.
    func isKey(of url: HTTPURL, requiresValidChain: Bool) -> Bool {
        route == .direct && self.requiresValidChain == requiresValidChain
            && host.port == url.effectivePort && isSecure == url.isHTTPS
            && host.name == url.host ?? ""
    }

    /// Whether a connection that is opened with this key checks pins.
    var isPinned: Bool { isSecure && options.sharedSecurity?.hasPins == true }

    /// Whether one connection may carry several requests at once.
    var mayBeShared: Bool { version != .http11 }

    /// The keys whose open connections a request with this one may use too; `nil` if there are none.
    var related: (key: ConnectionKey, isShared: Bool)? {
        guard isSecure, route != .absoluteForm else { return nil }
        return switch version {
        case .http11: (ConnectionKey(self, version: .automatic), false)
        case .http2: (ConnectionKey(self, version: .automatic), true)
        case .automatic: (ConnectionKey(self, version: .http2), true)
        case .priorKnowledge: nil
        }
    }

    /// Creates the key of the connections to an HTTP proxy, which carry requests to all hosts.
    private init(proxy url: HTTPURL, _ requested: TransportOptions) {
        var options = TransportOptions()
        options.proxy = .none
        options.addressFamily = requested.addressFamily
        options.security = requested.proxySecurity
        isSecure = url.isHTTPS
        // libcurl's default ports for proxies.
        host = Host(name: url.host ?? "", port: url.port ?? (isSecure ? 443 : 1080))
        route = .absoluteForm
        requiresValidChain = requested.proxySecurity?.allowInvalidCertificates != true
        version = .http11
        self.options = options
    }

    /// The URL of the host to which the connection leads.
    var url: HTTPURL {
        HTTPURL(scheme: isSecure ? "https" : "http", host: host.name, port: host.port)
    }

    /// Whether TLS protects the connection to the server or to the proxy.
    var usesTLS: Bool {
        isSecure || mayLieWithinTLS
    }

    /// Whether the connection may lie within a TLS connection to its proxy.
    var mayLieWithinTLS: Bool {
        guard route == .tunnel, case .url(let proxy, _) = options.proxy else { return false }
        return proxy.lowercasedASCII().starts(withBytes: "https:")
    }

    static func == (one: ConnectionKey, other: ConnectionKey) -> Bool {
        one === other || one.hasEqualParts(other)
    }

    private func hasEqualParts(_ other: ConnectionKey) -> Bool {
        isSecure == other.isSecure && route == other.route && host == other.host
            && version == other.version && requiresValidChain == other.requiresValidChain
            && (options == other.options || connects(like: other))
    }

    private func connects(like other: ConnectionKey) -> Bool {
        // Without TLS there is no trust, and without a tunnel no proxy.
        (!isSecure || trusts(like: other))
            && (route != .tunnel
                || options.proxy == other.options.proxy
                    && options.sharedProxySecurity == other.options.sharedProxySecurity)
            && options.addressOverrides == other.options.addressOverrides
            && options.addressFamily == other.options.addressFamily
            && options.unixSocketPath == other.options.unixSocketPath
    }

    /// Whether both connections have the same trust, except for pins, which each request checks.
    private func trusts(like other: ConnectionKey) -> Bool {
        options.sharedSecurity == other.options.sharedSecurity
            || Self.withoutPins(options.security) == Self.withoutPins(other.options.security)
    }

    private static func withoutPins(_ security: SecurityPolicy?) -> SecurityPolicy? {
        guard var security else { return nil }
        security.pins = []
        security.publicKeyPins = []
        // `requiresValidChain` states whether it has an effect.
        security.allowInvalidCertificates = false
        return security
    }

    /// Hashes the host and the scheme: few requests to a host differ in their options.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(isSecure)
    }
}
