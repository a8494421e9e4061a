import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A server that starts another TLS handshake on the connection (RFC 5246 §7.4.1.1).
@Suite("Real peers: renegotiation", .limited, .bothVersions)
struct RenegotiationTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func run(_ path: String, body: Int = 0) async throws -> RecordingReceiver.Record {
        let record = try await transport.run(
            peers.request(
                .renegotiating, method: body > 0 ? .post : .get, path,
                body: body > 0 ? .data(Data(repeating: 7, count: body)) : nil))
        #expect(record.ends == 1 && record.violations.isEmpty)
        return record
    }

    @Test(arguments: ["/before", "/within"])
    func responseArrivesAfterAHandshake(path: String) async throws {
        // The second request uses the kept connection.
        for handshakes in [2, 3] {
            let record = try await run(path)
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.text == "handshakes=\(handshakes) bytes=0")
        }
    }

    /// The second handshake begins while the socket accepts no more of the body.
    @Test func uploadContinuesAfterAHandshake() async throws {
        let size = 8 << 20
        for handshakes in [2, 3] {
            let record = try await run("/upload", body: size)
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.text == "handshakes=\(handshakes) bytes=\(size)")
        }
    }

    /// The handshake may be in progress when the next request is written, or end the connection.
    @Test func requestAfterAnIdleHandshakeSucceeds() async throws {
        for _ in 0..<20 {
            let record = try await run("/after")
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.text.hasSuffix(" bytes=0"))
        }
    }
}
