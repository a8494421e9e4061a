import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// Proxies that speak TLS themselves: stunnel before tinyproxy, which sends from 127.0.0.8.
@Suite("Real peers: proxies over TLS", .timeLimit(.minutes(3)))
struct SecureProxyTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func proxy(_ peer: Peers.Peer, as user: String? = nil) -> String {
        "https://\(user.map { $0 + "@" } ?? "")127.0.0.1:\(peers.port(peer))"
    }

    private func run(
        _ target: Peers.Peer, through proxy: String, _ target2: String = "/info",
        change: (inout SecurityPolicy) throws -> Void = { _ in }
    ) async throws -> RecordingReceiver.Record {
        var request = peers.request(target, host: "127.0.0.1", target2)
        request.options.proxy = .url(proxy)
        var policy = SecurityPolicy()
        policy.authorityFile = peers.certificate("root.pem")
        try change(&policy)
        request.options.proxySecurity = policy
        return try await transport.run(request)
    }

    @Test(arguments: [Peers.Peer.nginxPlain, .nginxTLS])
    func absoluteFormAndTunnels(target: Peers.Peer) async throws {
        for isFirst in [true, false] {
            let record = try await run(target, through: proxy(.secureProxy))
            #expect(record.error == nil, "\(record.trouble)")
            #expect(PeerInfo(record)["from"] == "127.0.0.8")
            #expect(record.head?.httpVersion == (target == .nginxTLS ? .http2 : .http11))
            // tinyproxy keeps tunnels only.
            let isReused = target == .nginxTLS && !isFirst
            #expect(record.end?.timings.reusedConnection == isReused)
        }
        let large = try await run(target, through: proxy(.secureProxy), "/large")
        let isWhole = large.body == Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0) })
        #expect(isWhole, "\(large.received) bytes, \(large.trouble)")
    }

    @Test func uploadsThroughTunnels() async throws {
        for target in [Peers.Peer.nginxTLS, .nginxPlain] {
            var request = peers.request(
                target, host: "127.0.0.1", method: .post, "/bin/post",
                body: .data(Data(repeating: 6, count: 1 << 20)))
            request.options.proxy = .url(proxy(.secureProxy))
            request.options.proxySecurity = .insecureForTests
            let record = try await transport.run(request)
            #expect(record.head?.status == .ok, "\(record.trouble)")
            #expect(record.sent == 1 << 20)
        }
    }

    @Test func userAndPassword() async throws {
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let right = try await run(target, through: proxy(.secureProxyLocked, as: "user:secret"))
            #expect(right.error == nil, "\(right.trouble)")
            #expect(PeerInfo(right)["from"] == "127.0.0.8")
        }
        for user in [nil, "user:wrong"] {
            let plain = try await run(.nginxPlain, through: proxy(.secureProxyLocked, as: user))
            #expect([401, 407].contains(plain.head?.status.code), "\(plain.trouble)")
            let tunnel = try await run(.nginxTLS, through: proxy(.secureProxyLocked, as: user))
            #expect(tunnel.error?.code == .proxyFailed, "\(tunnel.trouble)")
            #expect(tunnel.error?.description.contains("wrong") == false)
        }
    }

    /// Nothing is sent to a proxy that cannot prove who it is, and the error says that it is the proxy.
    @Test(arguments: [Peers.Peer.nginxPlain, .nginxTLS])
    func proxiesNotToBeTrusted(target: Peers.Peer) async throws {
        for peer in [Peers.Peer.secureProxyStranger, .secureProxyMisnamed] {
            let record = try await run(target, through: proxy(peer, as: "user:secret"))
            let error = try #require(record.error)
            #expect(error.code == .proxyFailed, "\(peer): \(record.trouble)")
            #expect(
                error.message.contains("certificate of the proxy 127.0.0.1:\(peers.port(peer))"))
            #expect(error.message.contains("secret") == false)
            #expect(record.head == nil)
            let open = try await run(target, through: proxy(peer)) { $0 = .insecureForTests }
            #expect(open.error == nil, "\(open.trouble)")
            // Who trusts anybody leaves no connection for who does not, where libcurl would have given it away.
            let again = try await run(target, through: proxy(peer))
            #expect(again.error?.code == .proxyFailed, "\(again.trouble)")
        }
        let named = try await run(target, through: proxy(.secureProxyMisnamed)) {
            $0.validatesDomainName = false
        }
        #expect(named.error == nil, "\(named.trouble)")
        // The system knows nothing of the tests' authority, nor is the server's one the proxy's.
        var request = peers.request(target, host: "127.0.0.1")
        request.options.proxy = .url(proxy(.secureProxy))
        let system = try await transport.run(request)
        #expect(system.error?.code == .proxyFailed, "\(system.trouble)")
    }

    @Test func authoritiesFromText() async throws {
        let text = try peers.text("root.pem")
        let other = try peers.text("other-root.pem")
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let right = try await run(target, through: proxy(.secureProxy)) {
                $0.authorityFile = nil
                $0.authorities = text
            }
            #expect(right.error == nil, "\(right.trouble)")
            let wrong = try await run(target, through: proxy(.secureProxy)) {
                $0.authorityFile = nil
                $0.authorities = other
            }
            #expect(wrong.error?.code == .proxyFailed, "\(wrong.trouble)")
        }
    }

    @Test func clientCertificates() async throws {
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let shown = try await run(target, through: proxy(.secureProxyClients)) {
                $0.clientIdentity = .pkcs12(
                    file: peers.certificate("client.p12"), password: "secret")
            }
            #expect(shown.error == nil, "\(shown.trouble)")
            #expect(PeerInfo(shown)["from"] == "127.0.0.8")
            #expect(PeerInfo(shown)["client"].isEmpty)
            let none = try await run(target, through: proxy(.secureProxyClients))
            #expect(none.error != nil && none.head == nil)
        }
    }

    /// The server behind the tunnel is still held to the request's own policy.
    @Test func theServerBehind() async throws {
        var request = peers.request(.nginxTLS, host: "127.0.0.1")
        request.options.proxy = .url(proxy(.secureProxy))
        request.options.proxySecurity = .insecureForTests
        request.options.httpVersion = .http11
        request.options.security?.publicKeyPins = [try peers.pin("address")]
        let right = try await transport.run(request)
        #expect(right.error == nil, "\(right.trouble)")
        // Whoever trusts any proxy trusts no other server for it.
        request.options.security = SecurityPolicy()
        let stranger = try await transport.run(request)
        let codes = [RequestError.Code.certificateRejected, .secureConnectionFailed]
        #expect(codes.contains { $0 == stranger.error?.code }, "\(stranger.trouble)")
        #expect(stranger.error?.message.contains("ertificate") == true)
        request.options.security?.authorityFile = peers.certificate("root.pem")
        request.options.security?.publicKeyPins = [try peers.pin("good")]
        let wrong = try await transport.run(request)
        #expect(wrong.error?.code == .pinMismatch, "\(wrong.trouble)")
    }

    @Test func proxiesThatAreNone() async throws {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let nobody = try await run(target, through: "https://127.0.0.1:\(dead.port)")
            #expect(nobody.error?.code == .proxyFailed, "\(nobody.trouble)")
            #expect(nobody.error?.message.contains("proxy 127.0.0.1:\(dead.port)") == true)
            // A proxy, but one that does not speak TLS.
            let plain = try await run(target, through: proxy(.nginxPlain))
            #expect(plain.error?.code == .proxyFailed, "\(plain.trouble)")
            #expect(plain.error?.message.contains("No secure connection") == true)
        }
    }

    @Test func pinsAreRefused() throws {
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
