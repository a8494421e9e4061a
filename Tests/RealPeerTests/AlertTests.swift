import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A server that rejects the client over TLS 1.3 and resets the connection: its alert arrives after
/// the client's handshake, before or after the request is written (RFC 8446 §4.4.2.4).
@Suite("Real peers: TLS alerts", .limited)
struct AlertTests {
    private let peers: Peers

    init() throws { peers = try Peers.get() }

    private func request(
        _ method: HTTPMethod, _ version: TransportOptions.HTTPVersionPolicy, mayReplay: Bool
    ) -> TransportRequest {
        var request = peers.request(
            .earlyDemanding, method: method, body: method == .post ? .string("body") : nil)
        request.options.httpVersion = version
        request.options.mayReplay = mayReplay
        request.options.security?.pins = BeforeSending.pins(for: "good.errand.test")
        return request
    }

    /// The connection is reset before the request is written, so that writing fails.
    @Test func alertBeforeResetIsReported() async throws {
        let port = peers.port(.earlyDemanding)
        // One request at a time, because the callback finds the socket by the server's port.
        for version in [TransportOptions.HTTPVersionPolicy.http11, .automatic, .http2] {
            for method in [HTTPMethod.get, .post] {
                for mayReplay in [false, true] {
                    let receiver = BeforeSending {
                        // Without a socket, the connection was already reset.
                        ClientSocket(remotePort: port)?.waitForHangUp()
                    }
                    _ = CurlTransport().start(
                        request(method, version, mayReplay: mayReplay), receiver: receiver)
                    let record = try await receiver.recorder.ended()
                    #expect(
                        record.error?.code == .clientCertificateRejected,
                        "\(version) \(method) \(mayReplay): \(record.errorText)"
                    )
                    #expect(record.head == nil)
                }
            }
        }
    }
}
