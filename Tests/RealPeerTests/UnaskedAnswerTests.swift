import ErrandCore
import ErrandCurl
import ErrandTesting
import Testing

/// What a server says over TLS while nobody has asked is no answer, either (RFC 9112 §9.2).
@Suite("Real peers: unasked answers", .timeLimit(.minutes(1)))
struct UnaskedAnswerPeerTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    @Test func isNotTakenForTheNext() async throws {
        let transport = CurlTransport()
        var request = peers.request(
            .earlyTLS, host: "http11-speaks.errand.test", method: .post, "/")
        request.options.security = .insecureForTests
        let first = try await transport.run(request)
        #expect(first.error == nil && first.text == "good", "\(first.trouble)")
        let said = try await transport.run(peers.request(.earlyTLS, "/said?status=200"))
        #expect(said.error == nil, "\(said.trouble)")
        let second = try await transport.run(request)
        #expect(second.error == nil && second.text == "good", "\(second.trouble)")
        #expect(second.end?.timings.reusedConnection == false)
        // The tickets of a session, which come with the first answer, cost no connection.
        let third = try await transport.run(request)
        #expect(third.error == nil && third.end?.timings.reusedConnection == true)
    }
}
