import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// HTTPS proxies: stunnel in front of tinyproxy, which connects from 127.0.0.8.
@Suite("Real peers: proxies over TLS", .limited, .bothVersions)
struct SecureProxyTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func proxy(_ peer: Peers.Peer, as user: String? = nil) -> String {
        "https://\(user.map { $0 + "@" } ?? "")127.0.0.1:\(peers.port(peer))"
    }

    private func run(
        _ target: Peers.Peer, through proxy: String, _ path: String = "/info",
        change: (inout SecurityPolicy) throws -> Void = { _ in }
    ) async throws -> RecordingReceiver.Record {
        var request = peers.request(target, host: "127.0.0.1", path)
        request.options.proxy = .url(proxy)
        var policy = SecurityPolicy()
        policy.authorityFile = peers.certificate("root.pem")
        try change(&policy)
        request.options.proxySecurity = policy
        return try await transport.run(request)
    }

    @Test(arguments: [Peers.Peer.nginxPlain, .nginxTLS])
    func requestsAreForwardedOrTunnelled(target: Peers.Peer) async throws {
        for isFirst in [true, false] {
            let record = try await run(target, through: proxy(.secureProxy))
            #expect(record.error == nil, "\(record.errorText)")
            // TLS to the proxy does not protect a plain request on its way to the server.
            let connection = try #require(record.connections.last)
            #expect(connection.isSecure == (target == .nginxTLS))
            #expect(
                connection.port == peers.port(target == .nginxTLS ? target : .secureProxy))
            #expect(PeerInfo(record)["from"] == "127.0.0.8")
            #expect(record.head?.httpVersion == (target == .nginxTLS ? Peers.negotiated : .http11))
            // tinyproxy keeps only tunnels open.
            let isReused = target == .nginxTLS && !isFirst
            #expect(record.end?.timings.reusedConnection == isReused)
        }
        let large = try await run(target, through: proxy(.secureProxy), "/large")
        let isWhole = large.body == Peers.largeBody
        #expect(isWhole, "\(large.received) bytes, \(large.errorText)")
    }

    /// libcurl accepts this user name, `HTTPURL` does not.
    @Test func http2ThroughAnEnvironmentProxyWithAnUnusualUserName() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let proxy = "https://DOMAIN\\user:x@127.0.0.1:\(peers.port(.secureProxy))"
            setenv("https_proxy", proxy, 1)
            var request = peers.request(.nginxTLS, host: "127.0.0.1")
            var policy = SecurityPolicy()
            policy.authorityFile = peers.certificate("root.pem")
            request.options.proxySecurity = policy
            let transport = CurlTransport()
            for _ in 0..<2 {
                let record = try await transport.run(request)
                guard record.head?.httpVersion == .http2, PeerInfo(record)["from"] == "127.0.0.8"
                else {
                    FileHandle.standardError.write(Data("\(record.errorText)\n".utf8))
                    exit(3)
                }
            }
        }
    }

    @Test func uploadsThroughTunnels() async throws {
        for target in [Peers.Peer.nginxTLS, .nginxPlain] {
            var request = peers.request(
                target, host: "127.0.0.1", method: .post, "/bin/post",
                body: .data(Data(repeating: 6, count: 1 << 20)))
            request.options.proxy = .url(proxy(.secureProxy))
            request.options.proxySecurity = .insecureForTests
            let record = try await transport.run(request)
            #expect(record.head?.status == .ok, "\(record.errorText)")
            #expect(record.sent == 1 << 20)
        }
    }

    @Test func proxyCredentials() async throws {
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let right = try await run(target, through: proxy(.secureProxyLocked, as: "user:secret"))
            #expect(right.error == nil, "\(right.errorText)")
            #expect(PeerInfo(right)["from"] == "127.0.0.8")
        }
        for user in [nil, "user:wrong"] {
            let plain = try await run(.nginxPlain, through: proxy(.secureProxyLocked, as: user))
            #expect([401, 407].contains(plain.head?.status.code), "\(plain.errorText)")
            let tunnel = try await run(.nginxTLS, through: proxy(.secureProxyLocked, as: user))
            #expect(tunnel.error?.code == .proxyFailed, "\(tunnel.errorText)")
            #expect(tunnel.error?.description.contains("wrong") == false)
        }
    }

    /// Nothing is sent to a proxy with an untrusted certificate, and the error names the proxy.
    @Test(arguments: [Peers.Peer.nginxPlain, .nginxTLS])
    func untrustedProxiesAreRejected(target: Peers.Peer) async throws {
        for peer in [Peers.Peer.secureProxyStranger, .secureProxyMisnamed] {
            let record = try await run(target, through: proxy(peer, as: "user:secret"))
            let error = try #require(record.error)
            #expect(error.code == .proxyFailed, "\(peer): \(record.errorText)")
            #expect(
                error.message.contains("certificate of the proxy 127.0.0.1:\(peers.port(peer))"))
            #expect(error.message.contains("secret") == false)
            #expect(record.head == nil)
            let open = try await run(target, through: proxy(peer)) { $0 = .insecureForTests }
            #expect(open.error == nil, "\(open.errorText)")
            // A request with validation does not reuse that connection; libcurl alone would reuse it.
            let again = try await run(target, through: proxy(peer))
            #expect(again.error?.code == .proxyFailed, "\(again.errorText)")
        }
        let named = try await run(target, through: proxy(.secureProxyMisnamed)) {
            $0.validatesDomainName = false
        }
        #expect(named.error == nil, "\(named.errorText)")
        // The authorities for the server do not apply to the proxy, and the system's reject its certificate.
        var request = peers.request(target, host: "127.0.0.1")
        request.options.proxy = .url(proxy(.secureProxy))
        let system = try await transport.run(request)
        #expect(system.error?.code == .proxyFailed, "\(system.errorText)")
    }

    @Test func proxyAuthoritiesFromText() async throws {
        let text = try peers.text("root.pem")
        let other = try peers.text("other-root.pem")
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let right = try await run(target, through: proxy(.secureProxy)) {
                $0.authorityFile = nil
                $0.authorities = text
            }
            #expect(right.error == nil, "\(right.errorText)")
            let wrong = try await run(target, through: proxy(.secureProxy)) {
                $0.authorityFile = nil
                $0.authorities = other
            }
            #expect(wrong.error?.code == .proxyFailed, "\(wrong.errorText)")
        }
    }

    @Test func unreadableProxyFileIsTheCause() async throws {
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let record = try await run(target, through: proxy(.secureProxy)) {
                $0.authorityFile = "/does/not/exist"
            }
            #expect(record.error?.code == .invalidConfiguration, "\(record.errorText)")
            #expect(record.error?.stage == .build)
        }
    }

    @Test func proxyClientCertificates() async throws {
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let shown = try await run(target, through: proxy(.secureProxyClients)) {
                $0.clientIdentity = .pkcs12(
                    file: peers.certificate("client.p12"), password: "secret")
            }
            #expect(shown.error == nil, "\(shown.errorText)")
            #expect(PeerInfo(shown)["from"] == "127.0.0.8")
            #expect(PeerInfo(shown)["client"].isEmpty)
            let none = try await run(target, through: proxy(.secureProxyClients))
            #expect(none.error != nil && none.head == nil)
        }
    }

    /// The server at the end of the tunnel is validated by the request's own policy.
    @Test func tunnelledServerIsValidatedByItsOwnPolicy() async throws {
        var request = peers.request(.nginxTLS, host: "127.0.0.1")
        request.options.proxy = .url(proxy(.secureProxy))
        request.options.proxySecurity = .insecureForTests
        request.options.httpVersion = .http11
        request.options.security?.publicKeyPins = [try peers.pin("address")]
        let right = try await transport.run(request)
        #expect(right.error == nil, "\(right.errorText)")
        // The proxy's insecure policy does not apply to the server.
        request.options.security = SecurityPolicy()
        let untrusted = try await transport.run(request)
        let codes = [RequestError.Code.certificateRejected, .secureConnectionFailed]
        #expect(codes.contains { $0 == untrusted.error?.code }, "\(untrusted.errorText)")
        #expect(untrusted.error?.message.contains("ertificate") == true)
        request.options.security?.authorityFile = peers.certificate("root.pem")
        request.options.security?.publicKeyPins = [try peers.pin("good")]
        let wrong = try await transport.run(request)
        #expect(wrong.error?.code == .pinMismatch, "\(wrong.errorText)")
    }

    @Test func unreachableAndPlainProxiesFail() async throws {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let unreachable = try await run(target, through: "https://127.0.0.1:\(dead.port)")
            #expect(unreachable.error?.code == .proxyFailed, "\(unreachable.errorText)")
            #expect(unreachable.error?.message.contains("proxy 127.0.0.1:\(dead.port)") == true)
            // This server does not speak TLS.
            let plain = try await run(target, through: proxy(.nginxPlain))
            #expect(plain.error?.code == .proxyFailed, "\(plain.errorText)")
            #expect(plain.error?.message.contains("TLS handshake with the proxy") == true)
        }
    }

    @Test func pinsForProxiesAreUnsupported() throws {
        var request = peers.request(.nginxPlain)
        request.options.proxy = .url(proxy(.secureProxy))
        request.options.proxySecurity = SecurityPolicy()
        request.options.proxySecurity?.publicKeyPins = [try peers.pin("address")]
        let error = #expect(throws: RequestError.self) { try transport.check(request) }
        #expect(error?.code == .unsupported)
        request.options.proxySecurity = SecurityPolicy()
        request.options.proxySecurity?.allowInvalidCertificates = true
        let open = #expect(throws: RequestError.self) { try transport.check(request) }
        #expect(open?.code == .invalidConfiguration)
    }
}
