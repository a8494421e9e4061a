import ErrandTransport

/// The properties that two requests must share to use the same connection.
struct ConnectionKey: Sendable, Hashable {
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

    /// The host of the server, or of the proxy with the absolute form.
    let host: Host
    let isSecure: Bool
    let route: Route
    /// Whether the server's chain must be valid; it depends on the time if pins expire.
    let requiresValidChain: Bool
    /// The transport options, of which only those that shape a connection are compared.
    let options: TransportOptions

    /// Creates the key of a request that the engine carries.
    init(
        _ request: TransportRequest, requiresValidChain: Bool = true,
        environmentNamesProxy: Bool = false
    ) {
        let options = request.options
        let proxy = EngineChoice.Proxy(request, environmentNamesProxy: environmentNamesProxy)
        if proxy == .http, !request.isSecure, case .url(let text, _) = options.proxy,
            let url = try? HTTPURL(parsing: text)
        {
            self.init(proxy: url, options)
        } else {
            self.init(
                request.url, options, route: proxy == .none ? .direct : .tunnel,
                requiresValidChain: requiresValidChain)
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
        var options = options
        // It belongs to the request, and the requests of an agent differ only in it.
        options.mayReplay = false
        self.options = options
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
        self.options = options
    }

    /// The URL of the host to which the connection leads.
    var url: HTTPURL {
        HTTPURL(scheme: isSecure ? "https" : "http", host: host.name, port: host.port)
    }

    /// Whether TLS protects the connection to the server or to the proxy.
    var usesTLS: Bool {
        if isSecure { return true }
        guard route == .tunnel, case .url(let proxy, _) = options.proxy else { return false }
        return proxy.lowercasedASCII().starts(withBytes: "https:")
    }

    #if os(Linux)
        /// Whether the connection may lie within a TLS connection to its proxy.
        var mayLieWithinTLS: Bool {
            route == .tunnel && ProxyRoute.mayUseTLS(options, isSecure: isSecure)
        }
    #endif

    static func == (one: Self, other: Self) -> Bool {
        one.isSecure == other.isSecure && one.route == other.route && one.host == other.host
            && one.requiresValidChain == other.requiresValidChain
            && (one.options == other.options || one.connects(like: other))
    }

    private func connects(like other: Self) -> Bool {
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
    private func trusts(like other: Self) -> Bool {
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
