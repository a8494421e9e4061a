import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Unix sockets, address overrides and the connections per host.
@Suite("Real peers: routes", .limited, .bothVersions)
struct RouteTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    @Test func requestsOverUnixSockets() async throws {
        var request = peers.request(.nginxPlain, host: "anything.errand.test")
        request.options.addressOverrides = [:]
        request.options.unixSocketPath = peers.folder + "/nginx.sock"
        let plain = try await transport.run(request)
        #expect(PeerInfo(plain)["from"] == "unix:", "\(plain.errorText)")
        let again = try await transport.run(request)
        #expect(again.end?.timings.reusedConnection == true)
        var secure = peers.request(.nginxTLS, host: "localhost")
        secure.options.unixSocketPath = peers.folder + "/nginx-tls.sock"
        let tls = try await transport.run(secure)
        #expect(PeerInfo(tls)["from"] == "unix:", "\(tls.errorText)")
        #expect(tls.head?.httpVersion == Peers.negotiated)
        // The certificate must match the URL's host.
        secure.url.host = "elsewhere.test"
        let wrong = try await transport.run(secure)
        #expect(wrong.error?.code == .certificateRejected, "\(wrong.errorText)")
        request.options.unixSocketPath = peers.folder + "/no.sock"
        let none = try await transport.run(request)
        #expect(none.error?.code == .cannotConnect, "\(none.errorText)")
        request.options.unixSocketPath = nil
        let unresolved = try await transport.run(request)
        #expect(unresolved.error?.code == .cannotFindHost, "\(unresolved.errorText)")
    }

    @Test func addressOverridesReplaceDNS() async throws {
        let host = "direct.errand.test"
        var request = peers.request(.nginxTLS, host: host)
        let record = try await transport.run(request)
        #expect(PeerInfo(record)["name"] == host, "\(record.errorText)")
        // The first reachable address is used.
        request.options.addressOverrides = [
            "\(host):\(peers.port(.nginxTLS))": ["::1", "127.0.0.1"]
        ]
        let second = try await transport.run(request)
        #expect(second.error == nil, "\(second.errorText)")
        request.options.addressFamily = .ipv6
        let six = try await transport.run(request)
        #expect(six.error != nil)
    }

    @Test func connectionsPerHostAreLimited() async throws {
        let transport = CurlTransport {
            $0.connectionsPerHost = 2
        }
        let request = peers.request(.nginxPlain, host: "127.0.0.1")
        let records = try await transport.run(all: Array(repeating: request, count: 24))
        #expect(records.allSatisfy { $0.error == nil })
        #expect(Set(records.map { PeerInfo($0).connection }).count <= 2)
    }

    @Test func requestsWithoutALimitUseOneConnectionEach() async throws {
        let gate = Gate()
        let server = LoopbackServer()
        server.route("/held", responses: LoopbackResponse(body: "x").held(by: gate))
        try await server.start()
        let request = TransportRequest(url: try HTTPURL(parsing: server.url("/held")))
        async let records = CurlTransport().run(all: Array(repeating: request, count: 24))
        // All requests reach the server before the first response is sent.
        try await gate.reached(times: 24)
        gate.open()
        #expect(try await records.allSatisfy { $0.error == nil })
    }
}
