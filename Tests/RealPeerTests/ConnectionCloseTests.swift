import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import HTTPTypes
import TestSupport
import Testing

/// Responses whose end depends on the close of the connection.
@Suite("Real peers: connection close", .limited)
struct ConnectionCloseTests {
    private let peers: Peers
    init() throws { peers = try Peers.get() }

    /// The end of the stream decides, not how the connection closes afterwards (RFC 9113 §8.1).
    @Test(arguments: ["whole", "cut"])
    func endOfStreamDecidesOverConnectionClose(how: String) async throws {
        let record = try await CurlTransport().run(
            peers.request(.earlyTLS, method: .post, "/ends?how=\(how)"))
        #expect(record.head?.status == .ok && record.text == "xxxx", "\(record.errorText)")
        #expect(record.error?.code == (how == "whole" ? nil : .connectionLost))
    }

    /// A connection that ends before END_STREAM truncates a response without a length.
    @Test(
        arguments: ["closed", "notified", "goaway", "reset", "cancelled"], [HTTPMethod.get, .post])
    func breakTruncatesAResponseWithoutALength(how: String, method: HTTPMethod) async throws {
        let record = try await CurlTransport().run(
            peers.request(.earlyTLS, method: method, "/ends?how=\(how)"))
        #expect(record.head?.status == .ok && record.text == "xxxx", "\(record.errorText)")
        // libcurl reports a stream error by its name, and may report a reset.
        let isNamed = how == "cancelled" || how == "reset" && record.error?.code != .truncatedBody
        #expect(
            record.error?.code == (isNamed ? .connectionLost : .truncatedBody),
            "\(record.errorText)")
    }

    /// A body delimited by the close is complete only after a TLS close_notify (RFC 9112 §9.8).
    ///
    /// The engine carries the request from its start if the request requires HTTP/1.1.
    @Test(arguments: ["/properly", "/"], [TransportOptions.HTTPVersionPolicy.automatic, .http11])
    func bodyWithoutCloseNotifyIsTruncated(
        path: String, version: TransportOptions.HTTPVersionPolicy
    ) async throws {
        var request = peers.request(.earlyTLS, host: "http11-ends.errand.test", path)
        request.options.httpVersion = version
        request.options.security = .insecureForTests
        let record = try await CurlTransport().run(request)
        #expect(record.head?.status == .ok && record.text == "xxxx", "\(record.errorText)")
        #expect(record.error?.code == (path == "/" ? .truncatedBody : nil))
    }

    /// A content coding marks its end, so close_notify is not necessary, unless there is no byte of it.
    @Test(
        arguments: ["/coded", "/coded-cut"],
        [TransportOptions.HTTPVersionPolicy.automatic, .http11])
    func codedBodyWithoutCloseNotifyNeedsItsEndMarker(
        path: String, version: TransportOptions.HTTPVersionPolicy
    ) async throws {
        var request = peers.request(.earlyTLS, host: "http11-ends.errand.test", path)
        request.options.httpVersion = version
        request.options.security = .insecureForTests
        let record = try await CurlTransport().run(request)
        #expect(record.text == (path == "/coded" ? "xxxx" : ""), "\(record.errorText)")
        #expect(record.error?.code == (path == "/coded" ? nil : .truncatedBody))
    }
}
