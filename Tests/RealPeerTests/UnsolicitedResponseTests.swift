import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Testing

/// Bytes that a server sends over TLS without a request are not a response (RFC 9112 §9.2).
@Suite("Real peers: unsolicited responses", .timeLimit(.minutes(1)))
struct UnsolicitedResponsePeerTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    @Test func unsolicitedResponseIsNotUsedForTheNextRequest() async throws {
        let transport = CurlTransport()
        var request = peers.request(
            .earlyTLS, host: "http11-speaks.errand.test", method: .post, "/")
        request.options.security = .insecureForTests
        let first = try await transport.run(request)
        #expect(first.error == nil && first.text == "good", "\(first.errorText)")
        let other = try await transport.run(peers.request(.earlyTLS, "/said?status=200"))
        #expect(other.error == nil, "\(other.errorText)")
        let second = try await transport.run(request)
        #expect(second.error == nil && second.text == "good", "\(second.errorText)")
        #expect(second.end?.timings.reusedConnection == false)
        // Session tickets, which arrive with the first response, do not end the connection.
        let third = try await transport.run(request)
        #expect(third.error == nil && third.end?.timings.reusedConnection == true)
    }
}
