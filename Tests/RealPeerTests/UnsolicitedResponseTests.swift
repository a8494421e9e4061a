import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Bytes that a server sends over TLS without a request are not a response (RFC 9112 §9.2).
@Suite("Real peers: unsolicited responses", .limited)
struct UnsolicitedResponsePeerTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    @Test func unsolicitedResponseIsNotUsedForTheNextRequest() async throws {
        let transport = CurlTransport()
        func request(_ path: String) -> TransportRequest {
            var request = peers.request(
                .earlyTLS, host: "http11-holds.errand.test", method: .post, path)
            request.options.security = .insecureForTests
            return request
        }
        // The body is the port of the connection.
        let first = try await transport.run(request("/hold"))
        let port = try #require(Int(first.text), "\(first.errorText)")
        // The server sends the surplus before it responds to this request, over another connection.
        let other = try await transport.run(peers.request(.earlyTLS, "/release?port=\(port)"))
        #expect(other.error == nil, "\(other.errorText)")
        let second = try await transport.run(request("/"))
        #expect(second.error == nil, "\(second.errorText)")
        #expect(Int(second.text) != nil && second.text != first.text, "\(second.text)")
        #expect(second.end?.timings.reusedConnection == false)
        // Session tickets, which arrive with the first response, do not end the connection.
        let third = try await transport.run(request("/"))
        #expect(third.error == nil && third.text == second.text, "\(third.errorText)")
        #expect(third.end?.timings.reusedConnection == true)
    }

    /// The surplus arrives when the connection has been chosen and the request is not yet written.
    @Test(arguments: [HTTPMethod.get, .post])
    func surplusBeforeTheRequestIsWrittenIsNotUsed(method: HTTPMethod) async throws {
        let host = "http11-holds.errand.test"
        let transport = CurlTransport()
        var first = peers.request(.earlyTLS, host: host, "/hold")
        first.options.security = .insecureForTests
        let kept = try await transport.run(first)
        let port = try #require(Int(kept.text), "\(kept.errorText)")
        let release = peers.request(.earlyTLS, "/release?port=\(port)")
        let receiver = BeforeSending {
            CurlTransport().runBlocking(release)
            ClientSocket(localPort: port)?.waitForInput()
        }
        var second = peers.request(
            .earlyTLS, host: host, method: method, "/",
            body: method == .post ? .string("x") : nil)
        second.options.security = .insecureForTests
        second.options.security?.pins = BeforeSending.pins(for: host)
        _ = transport.start(second, receiver: receiver)
        let record = try await receiver.recorder.ended()
        #expect(record.error == nil, "\(record.errorText)")
        // The body is the port of another connection.
        #expect(Int(record.text) != nil && record.text != kept.text, "\(record.text)")
        #expect(record.end?.timings.reusedConnection == false)
    }

    /// OpenSSL has decrypted the surplus, so the socket has no input.
    @Test func surplusInTheSameRecordIsNotUsed() async throws {
        let transport = CurlTransport()
        var request = peers.request(
            .earlyTLS, host: "http11-pads.errand.test", "/?token=\(UUID().uuidString)")
        request.options.security = .insecureForTests
        request.options.httpVersion = .http11
        // libcurl reads the response and nothing more.
        request.options.receiveBufferBytes = 1024
        let first = try await transport.run(request)
        #expect(first.error == nil && first.text == "good", "\(first.errorText)")
        let second = try await transport.run(request)
        #expect(second.error == nil && second.text == "good", "\(second.errorText)")
        #expect(second.end?.timings.reusedConnection == false)
    }
}
