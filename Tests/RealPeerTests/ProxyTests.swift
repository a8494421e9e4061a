import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import ErrandURLSession
import Foundation
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// HTTP and SOCKS proxies.
///
/// tinyproxy connects from 127.0.0.8, microsocks from 127.0.0.9.
@Suite("Real peers: proxies", .limited, .bothVersions)
struct ProxyTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func address(
        _ peer: Peers.Peer, scheme: String = "http", as user: String? = nil
    ) -> String {
        "\(scheme)://\(user.map { $0 + "@" } ?? "")127.0.0.1:\(peers.port(peer))"
    }

    private func run(
        _ target: Peers.Peer, through proxy: String, bypass: [String] = [],
        host: String = "127.0.0.1"
    ) async throws -> RecordingReceiver.Record {
        var request = peers.request(target, host: host)
        request.options.proxy = .url(proxy, bypass: bypass)
        return try await transport.run(request)
    }

    @Test func requestsAreForwardedOrTunnelled() async throws {
        let plain = try await run(.nginxPlain, through: address(.tinyproxy))
        #expect(plain.error == nil, "\(plain.errorText)")
        #expect(PeerInfo(plain)["from"] == "127.0.0.8")
        let tunnelled = try await run(.nginxTLS, through: address(.tinyproxy))
        #expect(tunnelled.error == nil, "\(tunnelled.errorText)")
        #expect(PeerInfo(tunnelled)["from"] == "127.0.0.8")
        #expect(tunnelled.head?.httpVersion == Peers.negotiated)
        let again = try await run(.nginxTLS, through: address(.tinyproxy))
        #expect(again.end?.timings.reusedConnection == true)
        // A request without a proxy does not reuse the tunnel.
        let direct = try await transport.run(peers.request(.nginxTLS, host: "127.0.0.1"))
        #expect(PeerInfo(direct)["from"] == "127.0.0.1")
    }

    /// The host of a connection is the proxy that gets complete URLs, otherwise the server.
    @Test func connectionsNameTheirHost() async throws {
        for bypass in [[], ["example.com"]] {
            let plain = try await run(.nginxPlain, through: address(.tinyproxy), bypass: bypass)
            let connection = try #require(plain.connections.last, "\(plain.errorText)")
            #expect(connection.host == "127.0.0.1")
            #expect(connection.port == peers.port(.tinyproxy))
            #expect(connection.remoteAddress == "127.0.0.1:\(peers.port(.tinyproxy))")
            #expect(!connection.isSecure)
        }
        let past = try await run(
            .nginxPlain, through: address(.tinyproxy), bypass: ["127.0.0.1"])
        #expect(past.connections.last?.port == peers.port(.nginxPlain), "\(past.errorText)")
        for (target, proxy) in [
            (Peers.Peer.nginxTLS, address(.tinyproxy)),
            (.nginxPlain, address(.socks, scheme: "socks5")),
        ] {
            let tunnelled = try await run(target, through: proxy)
            let connection = try #require(tunnelled.connections.last, "\(tunnelled.errorText)")
            #expect(connection.port == peers.port(target))
            #expect(connection.isSecure == (target == .nginxTLS))
        }
    }

    @Test func pinsApplyThroughTunnels() async throws {
        var request = peers.request(.nginxTLS, host: "127.0.0.1")
        request.options.proxy = .url(address(.tinyproxy))
        request.options.security?.publicKeyPins = [try peers.pin("address")]
        let right = try await transport.run(request)
        #expect(right.error == nil, "\(right.errorText)")
        request.options.security?.publicKeyPins = [try peers.pin("good")]
        let wrong = try await transport.run(request)
        #expect(wrong.error?.code == .pinMismatch, "\(wrong.errorText)")
    }

    /// The error is that of a request without a proxy: it names the server.
    @Test(arguments: ["unknown-root", "wrong-host", "name-in-subject", "expired"])
    func rejectedServerIsNamedBehindProxies(chain: String) async throws {
        var request = peers.request(.nginxTLS, host: "\(chain).errand.test")
        request.options.httpVersion = .http11
        let direct = try await transport.run(request)
        #expect(direct.error?.code == .certificateRejected, "\(direct.errorText)")
        #expect(direct.error?.message.contains("\(chain).errand.test") == true)
        for proxy in [
            address(.tinyproxy), address(.socks, scheme: "socks5"),
            address(.socks, scheme: "socks5h"),
        ] {
            request.options.proxy = .url(proxy)
            let record = try await transport.run(request)
            #expect(record.head == nil && record.ends == 1)
            #expect(record.error?.code == direct.error?.code, "\(proxy): \(record.errorText)")
            #expect(record.error?.message == direct.error?.message, "\(proxy)")
            // The same route is open to a request without validation.
            var open = request
            open.options.security = .insecureForTests
            let accepted = try await transport.run(open)
            let from = proxy == address(.tinyproxy) ? "127.0.0.8" : "127.0.0.9"
            #expect(PeerInfo(accepted)["from"] == from, "\(proxy): \(accepted.errorText)")
        }
    }

    @Test func proxyCredentials() async throws {
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let right = try await run(
                target, through: address(.tinyproxyLocked, as: "user:secret"))
            #expect(right.error == nil, "\(right.errorText)")
            #expect(PeerInfo(right)["from"] == "127.0.0.8")
        }
        for user in [nil, "user:wrong"] {
            let plain = try await run(
                .nginxPlain, through: address(.tinyproxyLocked, as: user))
            // tinyproxy returns 407 without credentials and 401 for wrong ones.
            #expect([401, 407].contains(plain.head?.status.code), "\(plain.errorText)")
            let tunnel = try await run(.nginxTLS, through: address(.tinyproxyLocked, as: user))
            #expect(tunnel.error?.code == .proxyFailed, "\(tunnel.errorText)")
            #expect(tunnel.head == nil)
            #expect(tunnel.error?.description.contains("wrong") == false)
            #expect(names(tunnel, .tinyproxyLocked), "\(tunnel.errorText)")
        }
    }

    @Test func bypassedHostsAreContactedDirectly() async throws {
        let direct = try await run(
            .nginxPlain, through: address(.tinyproxy), bypass: ["example.com", "127.0.0.1"])
        #expect(PeerInfo(direct)["from"] == "127.0.0.1", "\(direct.errorText)")
        let other = try await run(
            .nginxPlain, through: address(.tinyproxy), bypass: ["example.com", "127.0.0.2"])
        #expect(PeerInfo(other)["from"] == "127.0.0.8", "\(other.errorText)")
        let all = try await run(.nginxPlain, through: address(.tinyproxy), bypass: ["*"])
        #expect(PeerInfo(all)["from"] == "127.0.0.1", "\(all.errorText)")
    }

    @Test(arguments: ["socks5", "socks5h"])
    func socksProxies(scheme: String) async throws {
        for target in [Peers.Peer.nginxPlain, .nginxTLS] {
            let record = try await run(target, through: address(.socks, scheme: scheme))
            #expect(record.error == nil, "\(record.errorText)")
            #expect(PeerInfo(record)["from"] == "127.0.0.9")
            let named = try await run(
                target, through: address(.socks, scheme: scheme), host: "localhost")
            #expect(named.error == nil, "\(named.errorText)")
            let locked = try await run(
                target, through: address(.socksLocked, scheme: scheme, as: "user:secret"))
            #expect(PeerInfo(locked)["from"] == "127.0.0.9", "\(locked.errorText)")
            for user in [nil, "user:wrong"] {
                let refused = try await run(
                    target, through: address(.socksLocked, scheme: scheme, as: user))
                #expect(refused.error?.code == .proxyFailed, "\(refused.errorText)")
                #expect(names(refused, .socksLocked), "\(refused.errorText)")
            }
        }
    }

    @Test func unreachableTargetsAndProxiesFail() async throws {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        let closed = dead.port
        for (peer, scheme, target) in [
            (Peers.Peer.tinyproxy, "http", "https"), (.socks, "socks5h", "http"),
        ] {
            var request = peers.request(.nginxPlain, host: "127.0.0.1")
            request.url.scheme = target
            request.url.port = closed
            request.options.proxy = .url(address(peer, scheme: scheme))
            let record = try await transport.run(request)
            #expect(record.error?.code == .proxyFailed, "\(record.errorText)")
            #expect(names(record, peer), "\(record.errorText)")
        }
        for bypass in [[], ["example.com"]] {
            for scheme in ["http", "socks5"] {
                let none = try await run(
                    .nginxPlain, through: "\(scheme)://user:secret@127.0.0.1:\(closed)",
                    bypass: bypass)
                #expect(none.error?.code == .proxyFailed, "\(none.errorText)")
                #expect(none.errorText.contains("127.0.0.1:\(closed)"), "\(none.errorText)")
                #expect(!none.errorText.contains("secret"))
            }
        }
        let lost = try await run(.nginxPlain, through: "http://user:secret@proxy.invalid:3128")
        #expect(lost.error?.code == .proxyFailed, "\(lost.errorText)")
        #expect(lost.errorText.contains("proxy.invalid:3128"), "\(lost.errorText)")
        // A request that bypasses the proxy reports the server's error.
        var past = peers.request(.nginxPlain, host: "127.0.0.1")
        past.url.port = closed
        past.options.proxy = .url(address(.tinyproxy), bypass: ["127.0.0.1"])
        let direct = try await transport.run(past)
        #expect(direct.error?.code == .cannotConnect, "\(direct.errorText)")
    }

    /// Whether the error names the proxy, without user and password.
    private func names(_ record: RecordingReceiver.Record, _ peer: Peers.Peer) -> Bool {
        record.errorText.contains("127.0.0.1:\(peers.port(peer))")
            && !record.errorText.contains("user:")
    }

    @Test func errorNamesTheUnreachableEnvironmentProxy() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let dead = try DeadPort.Refusing()
            defer { withExtendedLifetime(dead) {} }
            ProxyTests.set([
                "http_proxy": "http://user:secret@127.0.0.1:\(dead.port)",
                "no_proxy": "example.com",
            ])
            let record = try await CurlTransport().run(
                peers.request(.nginxPlain, host: "127.0.0.1"))
            guard record.error?.code == .proxyFailed,
                record.errorText.contains("127.0.0.1:\(dead.port)"),
                !record.errorText.contains("secret")
            else {
                FileHandle.standardError.write(Data((record.errorText + "\n").utf8))
                exit(3)
            }
        }
    }

    // MARK: - Environment variables, set in separate processes

    private static func check(
        _ transport: any Transport, _ environment: [String: String],
        _ expected: [(Peers.Peer, TransportOptions.ProxyPolicy, String)]
    ) async throws {
        let peers = try Peers.get()
        for (target, policy, from) in expected {
            var request = peers.request(target, host: "127.0.0.1")
            if policy != .environment { request.options.proxy = policy }
            let record = try await transport.run(request)
            guard record.error == nil, PeerInfo(record)["from"] == from else {
                FileHandle.standardError.write(
                    Data("\(environment) \(target) \(record.errorText) \(record.text)\n".utf8))
                exit(3)
            }
        }
    }

    private static func set(_ environment: [String: String]) {
        for (name, value) in environment { setenv(name, value, 1) }
    }

    @Test func curlUsesTheEnvironmentProxy() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let proxy = "http://user:secret@127.0.0.1:\(peers.port(.tinyproxyLocked))"
            let environment = ["http_proxy": proxy, "https_proxy": proxy]
            ProxyTests.set(environment)
            try await ProxyTests.check(
                CurlTransport(), environment,
                [
                    (.nginxPlain, .environment, "127.0.0.8"),
                    (.nginxTLS, .environment, "127.0.0.8"),
                    (.nginxPlain, .none, "127.0.0.1"), (.nginxTLS, .none, "127.0.0.1"),
                ])
        }
    }

    @Test func curlHonoursNoProxy() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let environment = [
                "all_proxy": "socks5h://127.0.0.1:\(peers.port(.socks))", "no_proxy": "127.0.0.1",
            ]
            ProxyTests.set(environment)
            try await ProxyTests.check(
                CurlTransport(), environment,
                [
                    (.nginxPlain, .environment, "127.0.0.1"),
                    (.nginxTLS, .environment, "127.0.0.1"),
                    (
                        .nginxPlain, .url("http://127.0.0.1:\(peers.port(.tinyproxy))"),
                        "127.0.0.8"
                    ),
                ])
        }
    }

    @Test func urlSessionUsesTheEnvironmentProxy() async {
        await #expect(processExitsWith: .success) {
            let peers = try Peers.get()
            let environment = [
                "http_proxy": "http://user:secret@127.0.0.1:\(peers.port(.tinyproxyLocked))"
            ]
            ProxyTests.set(environment)
            try await ProxyTests.check(
                URLSessionTransport(configuration: .ephemeral), environment,
                [(.nginxPlain, .environment, "127.0.0.8")])
        }
    }
}
