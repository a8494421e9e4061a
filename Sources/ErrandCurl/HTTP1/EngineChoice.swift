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

    /// The proxy of a request.
    enum Proxy: Sendable, Hashable {
        case none, socks, http
        /// The environment names one, which libcurl selects.
        case unknown

        init(_ policy: TransportOptions.ProxyPolicy, environmentNamesProxy: Bool) {
            switch policy {
            case .none: self = .none
            case .environment: self = environmentNamesProxy ? .unknown : .none
            case .url(let url, let bypass):
                // Only libcurl decides which hosts bypass the proxy.
                guard bypass.isEmpty else {
                    self = .unknown
                    return
                }
                self = url.lowercased().hasPrefix("socks") ? .socks : .http
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
        case .socks: .tunnels
        case .http: isSecure ? .tunnels : .absoluteForm
        case .unknown: nil
        }
    }
}
