import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Faults of an HTTP/2 server over TLS: the frames that it gets, and what the request gets.
@Suite("Real peers: faults over TLS", .limited)
struct ServerFaultPeerTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The bytes after the request on stream 1, and the frames of the client.
        let bytes: String
        let seen: String
        let error: RequestError.Code?

        init(
            _ rule: String, _ bytes: String, _ seen: String,
            _ error: RequestError.Code? = .badServerResponse
        ) {
            (testDescription, self.bytes, self.seen, self.error) = (rule, bytes, seen, error)
        }
    }

    private static let ok = "000001010500000001" + "88"

    @Test(arguments: [
        Case("a response", ok, "PING", nil),
        Case("§4.1 an unknown frame", "00000216ff00000003" + "0102" + ok, "PING", nil),
        Case("§4.2 a large frame", "004001000000000001", "GOAWAY 0 6\nend"),
        Case("§4.3 a malformed header block", "000001010500000001" + "40", "GOAWAY 0 9\nend"),
        Case("§5.1 DATA on an idle stream", "000001000000000003" + "78", "GOAWAY 0 1\nend"),
        Case(
            "§5.1 DATA after END_STREAM", ok + "000001000000000001" + "78", "GOAWAY 0 5\nend", nil),
        Case("§6.6 PUSH_PROMISE", "000004050400000001" + "00000002", "GOAWAY 0 1\nend"),
        Case("§6.9 an increment of 0", "000004080000000001" + "00000000", "RST_STREAM 1 1\nPING"),
        Case("§8.1 DATA before the head", "000001000000000001" + "78", "RST_STREAM 1 1\nPING"),
        Case(
            "§8.1.1 less content than announced",
            "000005010400000001" + "88" + "0f0d0132" + "000001000100000001" + "78",
            "RST_STREAM 1 1\nPING", .truncatedBody),
        Case(
            "§8.2 an upper-case name", "000006010500000001" + "88" + "0001410162",
            "RST_STREAM 1 1\nPING"),
    ])
    func fault(_ item: Case) async throws {
        let token = UUID().uuidString
        var request = peers.request(
            .earlyTLS, "/frames?token=\(token)&bytes=\(item.bytes)")
        request.options.mayReplay = false
        request.options.httpVersion = .automatic
        let transport = CurlTransport()
        let record = try await transport.run(request)
        #expect(record.error?.code == item.error, "\(record.errorText)")
        let seen = try await CurlTransport().run(
            peers.request(.earlyTLS, "/seen?token=\(token)"))
        #expect(seen.text == item.seen)
        withExtendedLifetime(transport) {}
    }
}
