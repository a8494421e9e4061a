import ErrandTransport
import Testing

@testable import ErrandCurl

/// The HTTP/1.1 engine carries exactly the requests that it covers.
struct EngineChoiceTests {
    private static let all: EngineChoice.Coverage = [
        .plain, .secure, .learned, .tunnels, .absoluteForm,
    ]

    private func choice(
        _ scheme: String, _ version: TransportOptions.HTTPVersionPolicy = .automatic,
        proxy: EngineChoice.Proxy = .none, hasNegotiatedHTTP11: Bool = false,
        coverage: EngineChoice.Coverage = all
    ) -> EngineChoice {
        EngineChoice(
            isSecure: scheme == "https", version: version, proxy: proxy,
            hasNegotiatedHTTP11: hasNegotiatedHTTP11, coverage: coverage)
    }

    @Test func engineThatIsOffCarriesNothing() {
        for scheme in ["http", "https"] {
            #expect(choice(scheme, .http11, coverage: []) == .libcurl)
        }
    }

    @Test func http2IsLeftToLibcurl() {
        #expect(choice("https", .http2, hasNegotiatedHTTP11: true) == .libcurl)
        #expect(choice("http", .http2PriorKnowledge) == .libcurl)
        #expect(choice("https", .automatic) == .libcurl)
        #expect(choice("https", .automatic, hasNegotiatedHTTP11: true) == .own)
        #expect(choice("https", .http11) == .own)
        #expect(choice("http", .automatic) == .own)
        #expect(choice("http", .http11) == .own)
    }

    private struct Need: Sendable {
        let scheme: String
        let version: TransportOptions.HTTPVersionPolicy
        let proxy: EngineChoice.Proxy
        let coverage: EngineChoice.Coverage
    }

    /// Each request needs exactly this coverage, and no other part of it.
    @Test func coverageIsExact() {
        let needs = [
            Need(scheme: "http", version: .automatic, proxy: .none, coverage: .plain),
            Need(scheme: "http", version: .http11, proxy: .none, coverage: .plain),
            Need(scheme: "https", version: .http11, proxy: .none, coverage: .secure),
            Need(scheme: "https", version: .automatic, proxy: .none, coverage: .learned),
            Need(scheme: "http", version: .http11, proxy: .tunnel, coverage: [.plain, .tunnels]),
            Need(scheme: "https", version: .http11, proxy: .tunnel, coverage: [.secure, .tunnels]),
            Need(scheme: "https", version: .http11, proxy: .http, coverage: [.secure, .tunnels]),
            Need(
                scheme: "http", version: .http11, proxy: .http, coverage: [.plain, .absoluteForm]),
        ]
        for need in needs {
            for bits in UInt8(0)..<32 {
                let coverage = EngineChoice.Coverage(rawValue: bits)
                let chosen = choice(
                    need.scheme, need.version, proxy: need.proxy, hasNegotiatedHTTP11: true,
                    coverage: coverage)
                #expect(
                    (chosen == .own) == coverage.isSuperset(of: need.coverage), "\(need) \(bits)")
            }
        }
    }

    @Test func onlyTunnelsOfUnknownProxiesAreCarried() {
        #expect(choice("http", proxy: .unknown) == .libcurl)
        #expect(choice("https", .http11, proxy: .unknown) == .own)
        #expect(
            choice("https", .http11, proxy: .unknown, coverage: [.plain, .secure]) == .libcurl)
    }

    @Test func proxyIsClassified() throws {
        let policies: [(TransportOptions.ProxyPolicy, Bool, EngineChoice.Proxy)] = [
            (.none, true, .none), (.environment, false, .none), (.environment, true, .unknown),
            (.url("socks5h://p:1"), false, .tunnel), (.url("SOCKS5://p:1"), true, .tunnel),
            (.url("http://p"), false, .http), (.url("https://p"), false, .http),
            (.url("socks5://p", bypass: ["a"]), false, .tunnel),
            (.url("http://p", bypass: ["a"]), false, .unknown),
        ]
        var request = TransportRequest(url: try HTTPURL(parsing: "http://h.test/"))
        for (policy, environmentNamesProxy, proxy) in policies {
            request.options.proxy = policy
            let found = EngineChoice.Proxy(
                request, environmentNamesProxy: environmentNamesProxy)
            #expect(found == proxy, "\(policy)")
        }
    }

    /// libcurl ignores proxies with Unix sockets, and reaches other addresses through tunnels.
    @Test func addressChangesTheUseOfAProxy() throws {
        var request = TransportRequest(url: try HTTPURL(parsing: "http://h.test/"))
        request.options.proxy = .url("http://p")
        request.options.addressOverrides = ["other.test": ["127.0.0.1"]]
        #expect(EngineChoice.Proxy(request, environmentNamesProxy: false) == .http)
        request.options.addressOverrides = ["h.test": ["127.0.0.1"]]
        #expect(EngineChoice.Proxy(request, environmentNamesProxy: false) == .tunnel)
        request.options.unixSocketPath = "/s"
        #expect(EngineChoice.Proxy(request, environmentNamesProxy: false) == .none)
    }
}
