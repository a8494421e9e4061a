import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Resumption of TLS sessions, as reported by nginx's `$ssl_session_reused`.
@Suite("Real peers: TLS sessions", .limited, .bothVersions)
struct TLSSessionTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    /// A request that closes its connection.
    private func request(
        _ peer: Peers.Peer = .nginxTLS, host: String = "good.errand.test",
        _ change: (inout SecurityPolicy) throws -> Void = { _ in }
    ) rethrows -> TransportRequest {
        var request = peers.request(peer, host: host, headers: [.connection: "close"])
        request.options.httpVersion = .http11
        var policy = request.options.security ?? SecurityPolicy()
        try change(&policy)
        request.options.security = policy
        return request
    }

    private func isResumed(
        _ request: TransportRequest, by transport: CurlTransport? = nil
    ) async throws -> Bool {
        let record = try await (transport ?? self.transport).run(request)
        #expect(record.error == nil && record.head?.status == .ok, "\(record.errorText)")
        #expect(record.end?.timings.reusedConnection == false)
        return PeerInfo(record).isResumed
    }

    /// New handles resume sessions, too: the handles that made them are busy here.
    @Test(arguments: [Peers.Peer.nginxTLS, .nginxTLS12])
    func sessionsAreResumedByAllHandles(peer: Peers.Peer) async throws {
        #expect(try await !isResumed(request(peer)))
        #expect(try await isResumed(request(peer)))
        var busy: [(any Transfer, RecordingReceiver)] = []
        for _ in 0..<3 {
            var slow = try request(peer)
            slow.url.path = "/trickle"
            slow.timeouts = Timeouts(connect: nil, idle: nil)
            let receiver = RecordingReceiver()
            busy.append((transport.start(slow, receiver: receiver), receiver))
            _ = try await receiver.headCame()
            #expect(try await isResumed(request(peer)))
        }
        for (transfer, receiver) in busy {
            transfer.cancel()
            #expect(try await receiver.ended().error?.code == .cancelled)
        }
    }

    /// libcurl's own session cache holds eight sessions.
    @Test func sessionsAreKeptForManyHosts() async throws {
        let hosts = [
            "good", "direct", "rsa", "p384", "ed25519", "two-deep", "disordered", "renewed-1",
            "renewed-2", "decorated",
        ].map { $0 + ".errand.test" }
        for host in hosts { #expect(try await !isResumed(request(host: host))) }
        for host in hosts { #expect(try await isResumed(request(host: host)), "\(host)") }
    }

    @Test func resumptionCanBeDisabled() async throws {
        let transport = CurlTransport {
            $0.resumesTLSSessions = false
        }
        for _ in 0..<3 { #expect(try await !isResumed(request(), by: transport)) }
    }

    @Test func sessionsAreNotSharedBetweenTransports() async throws {
        #expect(try await !isResumed(request()))
        #expect(try await !isResumed(request(), by: CurlTransport()))
    }

    /// Different authorities, validation or versions start a new session; the first policy resumes its own again.
    @Test(arguments: [Peers.Peer.nginxTLS, .nginxTLS12])
    func sessionsAreNotSharedBetweenPolicies(peer: Peers.Peer) async throws {
        #expect(try await !isResumed(request(peer)))
        let text = try peers.text("root.pem")
        #expect(
            try await !isResumed(
                request(peer) {
                    $0.authorityFile = nil
                    $0.authorities = text
                }))
        #expect(try await !isResumed(request(peer) { $0.validatesDomainName = false }))
        #expect(try await !isResumed(request(peer) { $0 = .insecureForTests }))
        if peer == .nginxTLS {
            #expect(try await !isResumed(request(peer) { $0.minimumVersion = .tls13 }))
        }
        #expect(try await isResumed(request(peer)))
        let other = try await transport.run(
            request(peer) { $0.authorityFile = peers.certificate("other-root.pem") })
        #expect(other.error?.code == .certificateRejected, "\(other.errorText)")
    }

    /// A session is resumed only with the same client certificate.
    @Test func sessionsAreNotSharedBetweenIdentities() async throws {
        func authenticated(_ identity: ClientIdentity) -> TransportRequest {
            request(.nginxClients) { $0.clientIdentity = identity }
        }
        let file = ClientIdentity.pkcs12(file: peers.certificate("client.p12"), password: "secret")
        let text = ClientIdentity.pem(
            certificate: try peers.text("client.pem"), key: try peers.text("client.key"))
        #expect(try await !isResumed(authenticated(file)))
        #expect(try await !isResumed(authenticated(text)))
        for identity in [file, text, file] {
            let record = try await transport.run(authenticated(identity))
            #expect(PeerInfo(record)["client"] == "CN=client" && PeerInfo(record).isResumed)
        }
        let none = try await transport.run(request(.nginxClients))
        #expect(none.head?.status == .badRequest, "\(none.errorText)")
        let unknown = try await transport.run(
            authenticated(
                .pem(
                    certificateFile: peers.certificate("client-stranger.pem"),
                    keyFile: peers.certificate("client-stranger.key"))))
        #expect(unknown.head?.status == .badRequest, "\(unknown.errorText)")
    }

    /// Sessions that were made without pins are checked against them, with the whole chain.
    @Test(arguments: [Peers.Peer.nginxTLS, .nginxTLS12])
    func pinsApplyToResumedSessions(peer: Peers.Peer) async throws {
        func pinned(_ name: String) throws -> TransportRequest {
            try request(peer) {
                $0.pins = [
                    SecurityPolicy.Pins("good.errand.test", publicKeys: [try peers.pin(name)])
                ]
            }
        }
        #expect(try await !isResumed(request(peer)))
        for name in ["intermediate", "root"] {
            let record = try await transport.run(pinned(name))
            #expect(record.error == nil, "\(record.errorText)")
            #expect(PeerInfo(record).isResumed)
        }
        for name in ["direct", "other-root"] {
            let record = try await transport.run(pinned(name))
            #expect(record.error?.code == .pinMismatch, "\(record.errorText)")
            #expect(
                try (record.error?.underlying as? PinMismatch)?.seen == [
                    peers.pin("good"), peers.pin("intermediate"), peers.pin("root"),
                ])
        }
    }
}
