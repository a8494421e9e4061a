import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Servers that require HTTP/1.1 for a request that arrived over HTTP/2 (RFC 9113 §7,
/// HTTP_1_1_REQUIRED).
@Suite("Real peers: HTTP/1.1 required", .limited)
struct DowngradeTests {
    private let peers: Peers
    private let transport = CurlTransport()

    init() throws { peers = try Peers.get() }

    private func request(
        _ target: String, method: HTTPMethod = .get, body: HTTPBody? = nil,
        version: TransportOptions.HTTPVersionPolicy = .automatic
    ) -> TransportRequest {
        var request = peers.request(
            .earlyTLS, host: "both.errand.test", method: method, target, body: body)
        request.options.security = .insecureForTests
        request.options.httpVersion = version
        return request
    }

    /// The number of requests that the server has read.
    private func count(_ token: String) async throws -> String {
        let record = try await CurlTransport().run(request("/count?token=\(token)"))
        #expect(record.error == nil, "\(record.errorText)")
        return record.text
    }

    @Test(
        arguments: [HTTPMethod.get, .put, .delete], [true, false])
    func idempotentRequestIsSentAgainOverHTTP1(
        method: HTTPMethod, reusesConnection: Bool
    ) async throws {
        if reusesConnection {
            let first = try await transport.run(request("/count?token=none"))
            #expect(first.head?.httpVersion == .http2, "\(first.errorText)")
        }
        let token = UUID().uuidString
        let body = method == .put ? HTTPBody.data(Data(repeating: 1, count: 500)) : nil
        let record = try await transport.run(
            request("/downgrade?token=\(token)", method: method, body: body))
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.head?.httpVersion == .http11)
        // Once over HTTP/2 and once over HTTP/1.1.
        #expect(record.text == "2")
        #expect(try await count(token) == "2")
        let next = try await transport.run(request("/count?token=\(token)"))
        #expect(next.error == nil && next.text == "2", "\(next.errorText)")
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func requiredHTTP2Fails(method: HTTPMethod) async throws {
        let token = UUID().uuidString
        let record = try await transport.run(
            request(
                "/downgrade?token=\(token)", method: method,
                body: method == .post ? .string("x") : nil, version: .http2))
        #expect(record.error?.code == .badServerResponse, "\(record.errorText)")
        #expect(record.error?.message.contains("requires HTTP/1.1") == true)
        #expect(record.error?.message.contains("Nothing was sent") == false)
        #expect(record.head == nil)
        #expect(try await count(token) == "1")
    }

    @Test func otherRequestIsNotSentAgain() async throws {
        let token = UUID().uuidString
        let record = try await transport.run(
            request("/downgrade?token=\(token)", method: .post, body: .string("once")))
        #expect(record.error?.code == .badServerResponse, "\(record.errorText)")
        #expect(record.error?.message.contains("requires HTTP/1.1") == true)
        #expect(try await count(token) == "1")
    }

    /// A response that has begun is not continued by another one.
    @Test(arguments: [TransportOptions.HTTPVersionPolicy.automatic, .http2])
    func responseThatHasBegunIsNotReplaced(
        version: TransportOptions.HTTPVersionPolicy
    ) async throws {
        let token = UUID().uuidString
        let record = try await transport.run(
            request("/downgrade?begun&token=\(token)", version: version))
        #expect(record.error?.code == .connectionLost, "\(record.errorText)")
        #expect(record.error?.message.contains("HTTP_1_1_REQUIRED") == true)
        #expect(record.head?.status == .ok)
        #expect(record.violations == [])
        #expect(try await count(token) == "1")
    }
}
