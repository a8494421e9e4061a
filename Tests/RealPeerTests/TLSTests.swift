import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// Authorities and versions of TLS.
@Suite("Real peers: TLS", .timeLimit(.minutes(3)))
struct TLSTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(
        _ peer: Peers.Peer = .nginxTLS, _ change: (inout SecurityPolicy) throws -> Void
    ) rethrows -> TransportRequest {
        var request = peers.request(peer)
        var policy = request.options.security ?? SecurityPolicy()
        try change(&policy)
        request.options.security = policy
        return request
    }

    @Test func authoritiesFromFileAndText() async throws {
        let file = try await transport.run(request { _ in })
        #expect(file.error == nil, "\(file.trouble)")
        let text = try await transport.run(
            request {
                $0.authorityFile = nil
                $0.authorities =
                    try peers.text("other-root.pem") + "between\n" + peers.text("root.pem")
            })
        #expect(text.error == nil, "\(text.trouble)")
        let other = try await transport.run(
            request {
                $0.authorityFile = nil
                $0.authorities = try peers.text("other-root.pem")
            })
        #expect(other.error?.code == .certificateRejected, "\(other.trouble)")
        // Trusting one's own means not trusting the system's any more: nothing here could be checked otherwise.
        for empty in ["", "# none\n"] {
            let record = try await transport.run(
                request {
                    $0.authorityFile = nil
                    $0.authorities = empty
                })
            #expect(record.error?.code == .invalidConfiguration, "\(record.trouble)")
        }
        let emptyFile = try await transport.run(
            request { $0.authorityFile = peers.certificate("empty.pem") })
        #expect(emptyFile.error?.code == .invalidConfiguration, "\(emptyFile.trouble)")
    }

    @Test func lowestVersion() async throws {
        let old = try await transport.run(request(.nginxTLS11) { _ in })
        #expect(old.error?.code == .secureConnectionFailed, "\(old.trouble)")
        let twelve = try await transport.run(request(.nginxTLS12) { _ in })
        #expect(PeerInfo(twelve)["tls"] == "TLSv1.2", "\(twelve.trouble)")
        let notThirteen = try await transport.run(
            request(.nginxTLS12) { $0.minimumVersion = .tls13 })
        #expect(notThirteen.error?.code == .secureConnectionFailed, "\(notThirteen.trouble)")
        let thirteen = try await transport.run(request { $0.minimumVersion = .tls13 })
        #expect(PeerInfo(thirteen)["tls"] == "TLSv1.3", "\(thirteen.trouble)")
    }

    @Test func plainServerBehindAnHTTPSAddress() async throws {
        var request = peers.request(.nginxTLS)
        request.url.port = peers.port(.nginxPlain)
        request.url.host = "127.0.0.1"
        request.options.addressOverrides = [:]
        let record = try await transport.run(request)
        #expect(record.error?.code == .secureConnectionFailed, "\(record.trouble)")
    }

    /// The file's certificates are kept, so that a new connection does not parse them again.
    @Test func authoritiesAreReadOnce() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try peers.text("root.pem").write(to: file, atomically: true, encoding: .utf8)
        func run() async throws -> RecordingReceiver.Record {
            var closing = request { $0.authorityFile = file.path }
            closing.headers[.connection] = "close"
            closing.options.httpVersion = .http11
            return try await transport.run(closing)
        }
        let first = try await run()
        #expect(first.error == nil, "\(first.trouble)")
        try peers.text("other-root.pem").write(to: file, atomically: true, encoding: .utf8)
        let second = try await run()
        #expect(second.error == nil, "\(second.trouble)")
        #expect(second.end?.timings.reusedConnection == false)
        // Another transport reads it, and sees what is in it now.
        var again = request { $0.authorityFile = file.path }
        again.options.httpVersion = .http11
        let other = try await CurlTransport().run(again)
        #expect(other.error?.code == .certificateRejected, "\(other.trouble)")
    }

    /// Who trusts other authorities gets no connection and no session of who trusts these.
    @Test func policiesDoNotShareConnections() async throws {
        let trusting = try await transport.run(request { _ in })
        #expect(trusting.error == nil)
        let other = try await transport.run(
            request { $0.authorityFile = peers.certificate("other-root.pem") })
        #expect(other.error?.code == .certificateRejected, "\(other.trouble)")
        let open = try await transport.run(request { $0 = .insecureForTests })
        #expect(open.end?.timings.reusedConnection == false)
        #expect(PeerInfo(open).connection != PeerInfo(trusting).connection)
    }
}
