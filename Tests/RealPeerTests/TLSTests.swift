import ErrandCore
import ErrandCurl
import ErrandHTTP
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Certificate authorities and TLS versions.
@Suite("Real peers: TLS", .limited, .bothVersions)
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

    @Test func authoritiesAreReadFromFileAndText() async throws {
        let file = try await transport.run(request { _ in })
        #expect(file.error == nil, "\(file.errorText)")
        let text = try await transport.run(
            request {
                $0.authorityFile = nil
                $0.authorities =
                    try peers.text("other-root.pem") + "between\n" + peers.text("root.pem")
            })
        #expect(text.error == nil, "\(text.errorText)")
        let certificates = try PEMText.certificates(in: peers.text("root.pem"))
        let der = try await transport.run(
            request {
                $0.authorityFile = nil
                $0.authorities = SecurityPolicy.pem(certificates: certificates)
            })
        #expect(der.error == nil, "\(der.errorText)")
        let other = try await transport.run(
            request {
                $0.authorityFile = nil
                $0.authorities = try peers.text("other-root.pem")
            })
        #expect(other.error?.code == .certificateRejected, "\(other.errorText)")
        // Own authorities replace the system's, so an empty list must not fall back to them.
        for empty in ["", "# none\n"] {
            let record = try await transport.run(
                request {
                    $0.authorityFile = nil
                    $0.authorities = empty
                })
            #expect(record.error?.code == .invalidConfiguration, "\(record.errorText)")
        }
        let emptyFile = try await transport.run(
            request { $0.authorityFile = peers.certificate("empty.pem") })
        #expect(emptyFile.error?.code == .invalidConfiguration, "\(emptyFile.errorText)")
    }

    @Test func minimumVersionIsEnforced() async throws {
        let old = try await transport.run(request(.nginxTLS11) { _ in })
        #expect(old.error?.code == .secureConnectionFailed, "\(old.errorText)")
        let twelve = try await transport.run(request(.nginxTLS12) { _ in })
        #expect(PeerInfo(twelve)["tls"] == "TLSv1.2", "\(twelve.errorText)")
        let notThirteen = try await transport.run(
            request(.nginxTLS12) { $0.minimumVersion = .tls13 })
        #expect(notThirteen.error?.code == .secureConnectionFailed, "\(notThirteen.errorText)")
        let thirteen = try await transport.run(request { $0.minimumVersion = .tls13 })
        #expect(PeerInfo(thirteen)["tls"] == "TLSv1.3", "\(thirteen.errorText)")
    }

    @Test func httpsRequestToAPlainServerFails() async throws {
        var request = peers.request(.nginxTLS)
        request.url.port = peers.port(.nginxPlain)
        request.url.host = "127.0.0.1"
        request.options.addressOverrides = [:]
        let record = try await transport.run(request)
        #expect(record.error?.code == .secureConnectionFailed, "\(record.errorText)")
    }

    /// The authorities are parsed once per transport, not for each connection.
    @Test func authorityFileIsReadOncePerTransport() async throws {
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
        #expect(first.error == nil, "\(first.errorText)")
        try peers.text("other-root.pem").write(to: file, atomically: true, encoding: .utf8)
        let second = try await run()
        #expect(second.error == nil, "\(second.errorText)")
        #expect(second.end?.timings.reusedConnection == false)
        // Another transport reads the current file.
        var again = request { $0.authorityFile = file.path }
        again.options.httpVersion = .http11
        let other = try await CurlTransport().run(again)
        #expect(other.error?.code == .certificateRejected, "\(other.errorText)")
    }

    /// Requests with different policies share neither connections nor TLS sessions.
    @Test func policiesDoNotShareConnections() async throws {
        let trusting = try await transport.run(request { _ in })
        #expect(trusting.error == nil)
        let other = try await transport.run(
            request { $0.authorityFile = peers.certificate("other-root.pem") })
        #expect(other.error?.code == .certificateRejected, "\(other.errorText)")
        let open = try await transport.run(request { $0 = .insecureForTests })
        #expect(open.end?.timings.reusedConnection == false)
        #expect(PeerInfo(open).connection != PeerInfo(trusting).connection)
    }
}
