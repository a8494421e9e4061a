import ErrandTransport

/// The choice of the path that carries a request: a pure function.
enum EngineChoice: Sendable, Hashable {
    /// The HTTP/1.1 engine.
    case own
    /// libcurl's easy handles.
    case libcurl

    /// The kinds of requests that the engine can carry.
    struct Coverage: OptionSet, Sendable {
        let rawValue: UInt8

        /// Without TLS.
        static let plain = Coverage(rawValue: 1)
        /// With TLS, where HTTP/1.1 is required.
        static let secure = Coverage(rawValue: 2)
        /// With TLS, to an origin that has negotiated HTTP/1.1 before.
        static let learned = Coverage(rawValue: 4)
        /// Through a SOCKS proxy, or through a tunnel of an HTTP proxy.
        static let tunnels = Coverage(rawValue: 8)
        /// Without TLS through an HTTP proxy, which gets the absolute form.
        static let absoluteForm = Coverage(rawValue: 16)
    }

    /// The kind of a request's proxy.
    enum Proxy: Sendable, Hashable {
        case none
        /// A SOCKS proxy, or an HTTP proxy that always gets CONNECT.
        case tunnel
        /// An HTTP proxy, which gets CONNECT for `https` and the absolute form for `http`.
        case http
        /// A proxy or none, as libcurl decides by the host and the environment; what there is gets
        /// CONNECT for `https`.
        case unknown

        init(_ request: TransportRequest, environmentNamesProxy: Bool) {
            let options = request.options
            guard !options.hasDefaults || environmentNamesProxy, options.unixSocketPath == nil
            else {
                self = .none
                return
            }
            switch options.proxy {
            case .none: self = .none
            case .environment: self = environmentNamesProxy ? .unknown : .none
            case .url(let url, let bypass):
                if url.lowercasedASCII().starts(withBytes: "socks") {
                    self = .tunnel
                } else if !bypass.isEmpty {
                    // Only libcurl decides which hosts bypass the proxy.
                    self = .unknown
                } else {
                    // libcurl connects to another address through a tunnel.
                    let isOverridden =
                        AddressOverride.route(
                            to: request.url, options, environmentNamesProxy: false) != nil
                    self = isOverridden ? .tunnel : .http
                }
            }
        }
    }

    /// Chooses the path of a request.
    ///
    /// - Parameters:
    ///   - coverage: What the engine carries; empty if it is turned off.
    ///   - hasNegotiatedHTTP11: Whether the last connection to the origin, which offered HTTP/2, has
    ///     negotiated HTTP/1.1.
    init(
        isSecure: Bool, version: TransportOptions.HTTPVersionPolicy, proxy: Proxy,
        hasNegotiatedHTTP11: Bool, coverage: Coverage
    ) {
        let needed = Self.coverage(
            isSecure: isSecure, version: version, hasNegotiatedHTTP11: hasNegotiatedHTTP11)
        guard let needed, let route = Self.coverage(of: proxy, isSecure: isSecure),
            coverage.isSuperset(of: needed.union(route))
        else {
            self = .libcurl
            return
        }
        self = .own
    }

    /// The coverage that scheme and version need; `nil` if the request may use HTTP/2.
    private static func coverage(
        isSecure: Bool, version: TransportOptions.HTTPVersionPolicy, hasNegotiatedHTTP11: Bool
    ) -> Coverage? {
        switch version {
        case .http2, .http2PriorKnowledge: nil
        case .http11: isSecure ? .secure : .plain
        // Without TLS nothing is negotiated.
        case .automatic: isSecure ? (hasNegotiatedHTTP11 ? .learned : nil) : .plain
        }
    }

    private static func coverage(of proxy: Proxy, isSecure: Bool) -> Coverage? {
        switch proxy {
        case .none: []
        case .tunnel: .tunnels
        case .http: isSecure ? .tunnels : .absoluteForm
        case .unknown: isSecure ? .tunnels : nil
        }
    }
}

/// The `https` origins whose last connection has negotiated HTTP/1.1 although HTTP/2 was offered
/// (RFC 7301), as a pure value.
///
/// The engine carries their requests. An entry expires, so that a server that begins to speak HTTP/2
/// is noticed.
struct LearnedOrigins {
    /// The maximum number of origins.
    static let limit = 1024
    /// The time after which the protocol of an origin is negotiated again, in nanoseconds.
    static let lifetime: UInt64 = 600_000_000_000

    private var expiries: [ConnectionKey.Host: MonotonicTime] = [:]

    /// Records the protocol that a new connection has negotiated.
    mutating func negotiated(
        _ origin: ConnectionKey.Host, isHTTP11: Bool, at now: MonotonicTime
    ) {
        guard isHTTP11 else {
            if !expiries.isEmpty { expiries[origin] = nil }
            return
        }
        if expiries.count >= Self.limit, expiries[origin] == nil {
            expiries = expiries.filter { $0.value > now }
            if expiries.count >= Self.limit { expiries.removeAll() }
        }
        expiries[origin] = now.advanced(nanoseconds: Self.lifetime)
    }

    /// Whether the origin has negotiated HTTP/1.1 recently.
    func haveHTTP11(_ origin: ConnectionKey.Host, at now: MonotonicTime) -> Bool {
        expiries[origin].map { $0 > now } ?? false
    }

    /// Whether there is an entry for the origin, also an expired one.
    func contains(_ origin: ConnectionKey.Host) -> Bool { expiries[origin] != nil }

    var isEmpty: Bool { expiries.isEmpty }
}

#if os(Linux)
    import CLibcurl

    // The requests that the engine carries.
    extension HTTP1Engine {
        /// The requests that the engine carries, with or without TLS.
        func coverage(isSecure: Bool) -> EngineChoice.Coverage {
            // Over TLS the transport needs functions of OpenSSL, which are looked up for the first
            // such request.
            guard isSecure, TLSLibrary.loaded != nil else {
                return [.plain, .absoluteForm, .tunnels]
            }
            return usesLearned ? [.secure, .learned, .tunnels] : [.secure, .tunnels]
        }

        /// Records whether a new connection for a request has negotiated HTTP/1.1.
        func learn(_ request: TransportRequest, isHTTP11: Bool) {
            let origin = origin(of: request)
            // Their connections would be chosen for later requests; libcurl is in a callback now.
            if !isHTTP11, learned.contains(origin) { formerOrigins.append(origin) }
            learned.negotiated(origin, isHTTP11: isHTTP11, at: loop.now)
        }

        /// Whether the engine has taken over the connection with these ports.
        func holdsConnection(_ ports: ConnectionUse.Ports) -> Bool {
            loop.keptHandles > 0 && connections.contains { $0?.adoptedPorts == ports }
        }

        /// Whether the origin of a request has negotiated HTTP/1.1 recently.
        func hasLearned(_ request: TransportRequest) -> Bool {
            !learned.isEmpty && learned.haveHTTP11(origin(of: request), at: loop.now)
        }

        /// Lets libcurl negotiate the protocol for a transfer whose server may not accept HTTP/1.1
        /// any more; returns whether it does.
        func moves(_ exchange: HTTP1Transfer, after result: CURLcode) -> Bool {
            let request = exchange.transfer.request
            guard result == CURLE_SSL_CONNECT_ERROR, request.options.httpVersion == .automatic,
                request.isSecure, !loop.isShutDown, !exchange.hasReplayed
            else { return false }
            learn(request, isHTTP11: false)
            exchange.giveUp()
            loop.start(exchange.transfer)
            // The time spent on the connect counts.
            exchange.transfer.easyHandle?.deadlines = exchange.deadlines
            return true
        }

        private func origin(of request: TransportRequest) -> ConnectionKey.Host {
            ConnectionKey.Host(name: request.host ?? "", port: request.url.effectivePort)
        }
    }
#endif
