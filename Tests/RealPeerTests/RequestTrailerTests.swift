import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Testing

/// Requests with trailers to real servers: over TLS they use HTTP/1.1, also if the server prefers HTTP/2.
@Suite("Real peers: request trailers", .timeLimit(.minutes(3)), .bothEngines)
struct RequestTrailerTests {
    private let peers: Peers
    private let transport = CurlTransport.tested()

    init() throws { peers = try Peers.get() }

    private func request(_ peer: Peers.Peer) -> TransportRequest {
        peers.request(
            peer, method: .post, "/info",
            body: .string("abc").trailers(["X-Sum"]) { ["X-Sum": "294"] })
    }

    @Test(arguments: [Peers.Peer.nginxTLS, .nginxTLS12, .nginxPlain])
    func trailersAreSentOverHTTP11(peer: Peers.Peer) async throws {
        let request = request(peer)
        try transport.check(request)
        for _ in 0..<2 {
            let record = try await transport.run(request)
            #expect(record.error == nil, "\(record.errorText)")
            #expect(record.head?.httpVersion == .http11)
            #expect(PeerInfo(record)["announced"] == "X-Sum")
        }
        // nginx has read the whole request, so the connection can be used again.
        let next = try await transport.run(peers.request(peer, "/info"))
        #expect(next.error == nil, "\(next.errorText)")
        #expect(PeerInfo(next)["announced"] == "")
    }

    @Test func connectionIsKeptAfterTrailers() async throws {
        let first = PeerInfo(try await transport.run(request(.nginxTLS)))
        let second = PeerInfo(try await transport.run(request(.nginxTLS)))
        #expect(!first.connection.isEmpty && first.connection == second.connection)
    }
}
