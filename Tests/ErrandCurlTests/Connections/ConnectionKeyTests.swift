import ErrandTransport
import Testing

@testable import ErrandCurl

/// Requests share a connection exactly if it would be opened in the same way for both.
struct ConnectionKeyTests {
    private func key(
        _ url: String, requiresValidChain: Bool = true,
        change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> ConnectionKey {
        var request = TransportRequest(url: try HTTPURL(parsing: url))
        change(&request.options)
        return ConnectionKey(request, requiresValidChain: requiresValidChain)
    }

    @Test func optionsWithoutEffectOnTheConnectionAreIgnored() throws {
        for url in ["http://a/", "https://a/"] {
            let plain = try key(url)
            #expect(try key(url) { $0.maximumBodyBytes = 5 } == plain)
            #expect(try key(url) { $0.mayReplay = true } == plain)
            #expect(try key(url) { $0.addressFamily = .ipv6 } != plain)
            #expect(try key(url) { $0.unixSocketPath = "/s" } != plain)
            #expect(try key(url) { $0.addressOverrides = ["a": ["::1"]] } != plain)
        }
        #expect(try key("http://a/") != key("https://a:80/"))
    }

    /// Versions share a connection if the same protocol is certain.
    @Test func versionSeparatesConnectionsThatMayNegotiateIt() throws {
        #expect(try key("http://a/") { $0.httpVersion = .http11 } == key("http://a/"))
        #expect(try key("http://a/") { $0.httpVersion = .http2PriorKnowledge } != key("http://a/"))
        let automatic = try key("https://a/")
        let required = try key("https://a/") { $0.httpVersion = .http11 }
        let http2 = try key("https://a/") { $0.httpVersion = .http2 }
        #expect(automatic != required && automatic != http2 && required != http2)
        #expect(try key("https://a/") { $0.httpVersion = .http2PriorKnowledge } == http2)
        #expect(automatic.mayBeShared && http2.mayBeShared && !required.mayBeShared)
        #expect(try !key("http://a/").mayBeShared)
        // The open connections that may be used too.
        #expect(automatic.related?.key == http2 && automatic.related?.isShared == true)
        #expect(http2.related?.key == automatic && http2.related?.isShared == true)
        #expect(required.related?.key == automatic && required.related?.isShared == false)
        #expect(try key("http://a/").related == nil)
        #expect(automatic.forHTTP11 == required)
    }

    /// A request with the same options has the key of another one exactly if both have the origin, and neither a proxy.
    @Test func keyIsRecognizedByOrigin() throws {
        let urls = [
            "http://a/", "http://a/b?c", "http://a:80/", "http://a:81/", "http://b/", "https://a/",
            "https://a:443/", "https://a:80/", "http://a:443/",
        ]
        for one in urls {
            for other in urls {
                let direct = try key(one) { $0.proxy = .none }
                let areEqual = try direct == key(other) { $0.proxy = .none }
                let url = try HTTPURL(parsing: other)
                #expect(
                    direct.isKey(of: url, requiresValidChain: true) == areEqual, "\(one) \(other)")
                #expect(!direct.isKey(of: url, requiresValidChain: false))
                let proxied = try key(one) { $0.proxy = .url("http://a:80") }
                #expect(!proxied.isKey(of: url, requiresValidChain: true), "\(one) \(other)")
            }
        }
    }

    @Test func trustMattersOnlyOverTLS() throws {
        let change: (inout TransportOptions) -> Void = { $0.security = .insecureForTests }
        #expect(try key("http://a/", change: change) == key("http://a/"))
        #expect(try key("https://a/", change: change) != key("https://a/"))
    }

    /// Each request checks its pins, but a chain that was not verified serves no other policy.
    @Test func pinsDoNotSeparateConnections() throws {
        func secure(
            _ requiresValidChain: Bool = true, _ change: (inout SecurityPolicy) -> Void
        ) throws -> ConnectionKey {
            var policy = SecurityPolicy()
            change(&policy)
            return try key("https://a/", requiresValidChain: requiresValidChain) {
                $0.security = policy
            }
        }
        let plain = try secure { _ in }
        let pin = SecurityPolicy.Pins("a", publicKeys: ["k"])
        #expect(try secure { $0.pins = [pin] } == plain)
        #expect(try secure { $0.publicKeyPins = ["k"] } == plain)
        #expect(try secure { $0.validatesDomainName = false } != plain)
        #expect(try secure { $0.minimumVersion = .tls13 } != plain)
        #expect(try secure { $0.authorityFile = "/ca" } != plain)
        let unverified = try secure(false) {
            $0.allowInvalidCertificates = true
            $0.pins = [pin]
        }
        #expect(unverified != plain)
        // The pins have expired, so the same policy requires a valid chain again.
        let expired = try secure(true) {
            $0.allowInvalidCertificates = true
            $0.pins = [pin]
        }
        #expect(unverified != expired && expired == plain)
    }

    @Test func connectionToAnHTTPProxyServesAllHosts() throws {
        let change: (inout TransportOptions) -> Void = { $0.proxy = .url("http://p.test") }
        let one = try key("http://a/", change: change)
        #expect(one.route == .absoluteForm && one.host.name == "p.test")
        #expect(one.host.port == 1080 && !one.usesTLS)
        #expect(try key("http://b:8080/", change: change) == one)
        // A server with the proxy's address is reached differently.
        #expect(try key("http://p.test:1080/") != one)
        let secure = try key("http://a/") { $0.proxy = .url("https://p.test") }
        #expect(secure.usesTLS && secure.host.port == 443)
    }

    /// An HTTP proxy would keep the field `Upgrade` for itself.
    @Test func upgradesAreTunnelled() throws {
        for proxy in ["http://p.test", "https://p.test"] {
            let upgrade = try key("http://a/") {
                $0.proxy = .url(proxy)
                $0.isUpgrade = true
            }
            let ordinary = try key("http://a/") { $0.proxy = .url(proxy) }
            #expect(upgrade.route == .tunnel && upgrade.host.name == "a" && upgrade != ordinary)
        }
        #expect(try key("http://a/") { $0.isUpgrade = true } == key("http://a/"))
    }

    @Test func tunnelsLeadToOneHost() throws {
        func tunnel(_ url: String, _ proxy: String) throws -> ConnectionKey {
            try key(url) { $0.proxy = .url(proxy) }
        }
        let one = try tunnel("https://a/", "http://p.test")
        #expect(one.route == .tunnel && one.host.name == "a" && one.host.port == 443)
        #expect(try tunnel("https://b/", "http://p.test") != one)
        #expect(try tunnel("https://a/", "http://q.test") != one)
        #expect(try key("https://a/") != one)
        let socks = try tunnel("http://a/", "socks5://p.test")
        #expect(socks.route == .tunnel && !socks.usesTLS)
        let overridden = try key("http://a/") {
            $0.proxy = .url("https://p.test")
            $0.addressOverrides = ["a": ["127.0.0.1"]]
        }
        #expect(overridden.route == .tunnel && overridden.usesTLS && !overridden.isSecure)
    }

    @Test func credentialsOfAProxy() {
        func credentials(_ url: String) -> String? {
            var options = TransportOptions()
            options.proxy = .url(url)
            return ProxyRoute.credentials(options)
        }
        #expect(credentials("http://p.test") == nil)
        #expect(credentials("http://user:secret@p.test") == "Basic dXNlcjpzZWNyZXQ=")
        #expect(credentials("http://user@p.test") == "Basic dXNlcjo=")
        // "ü:a@b%"
        #expect(credentials("http://%C3%BC:a%40b%25@p.test") == "Basic w7w6YUBiJQ==")
    }
}
