import ErrandCore
import ErrandCurl
import ErrandTesting
import Testing

/// Answers that end as their connection does.
@Suite("Real peers: ends of connections", .timeLimit(.minutes(1)))
struct ConnectionEndTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    /// What the stream says counts, and not how the connection ends behind it (RFC 9113 §8.1).
    @Test(arguments: ["whole", "cut"])
    func aStreamEndsBeforeItsConnection(how: String) async throws {
        let record = try await CurlTransport().run(
            peers.request(.earlyTLS, method: .post, "/ends?how=\(how)"))
        #expect(record.head?.status == .ok && record.text == "xxxx", "\(record.trouble)")
        #expect(record.error?.code == (how == "whole" ? nil : .connectionLost))
    }

    /// A body that ends with its connection is whole where the server says so (RFC 9112 §9.8).
    @Test(arguments: ["/properly", "/"])
    func tlsNeedsAGoodbye(path: String) async throws {
        var request = peers.request(.earlyTLS, host: "http11-ends.errand.test", path)
        request.options.security = .insecureForTests
        let record = try await CurlTransport().run(request)
        #expect(record.head?.status == .ok && record.text == "xxxx", "\(record.trouble)")
        #expect(record.error?.code == (path == "/" ? .truncatedBody : nil))
    }
}
