import ErrandTransport
import Foundation
import HTTPTypes
import Testing

@testable import ErrandCurl

/// Request heads have the form of RFC 9113 §8.3.1, and contain nothing of HTTP/1.1 connections.
struct RequestHeadTests {
    private func request(
        _ method: HTTPMethod = .get, _ url: String = "https://host/", _ headers: HTTPFields = [:],
        body: HTTPBody? = nil
    ) throws -> TransportRequest {
        TransportRequest(
            method: method, url: try HTTPURL(parsing: url), headers: headers, body: body)
    }

    private func name(_ text: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(text))
    }

    /// The fields that a peer reads.
    private func fields(
        _ request: TransportRequest, body: RequestHead.Body? = nil, codings: String? = nil,
        protocolName: String? = nil
    ) throws -> [String] {
        let head = try RequestHead(
            request, body: body,
            codings: codings.map { HTTPField(name: .acceptEncoding, value: $0) },
            protocolName: protocolName)
        var encoder = HeaderEncoder()
        let output = TextBuffer(capacity: 64)
        encoder.begin(isHead: true, into: output)
        head.write(with: &encoder, scratch: TextBuffer(capacity: 1), into: output)
        var naive = NaiveHPACK()
        let decoded = naive.decode(Array(output.contents))
        return try #require(decoded).map(\.description)
    }

    private static let start = [":method: GET", ":scheme: https", ":authority: host", ":path: /"]

    @Test(arguments: [
        ("https://host", "/", "host", "https"), ("https://host?q", "/?q", "host", "https"),
        ("https://host:443/x", "/x", "host", "https"), ("http://host:80/x", "/x", "host", "http"),
        ("https://host:80/x", "/x", "host:80", "https"),
        ("http://[::1]:8080/x", "/x", "[::1]:8080", "http"),
        ("https://H\u{F6}st/\u{E4} b#f", "/%C3%A4%20b", "xn--hst-sna", "https"),
    ])
    func pseudoHeaderFields(_ url: String, _ path: String, _ authority: String, _ scheme: String)
        throws
    {
        #expect(
            try fields(request(.get, url)) == [
                ":method: GET", ":scheme: \(scheme)", ":authority: \(authority)", ":path: \(path)",
            ])
    }

    /// RFC 9113 §8.2: names are in lower case; §8.2.3: several Cookie fields may follow each other.
    @Test func names() throws {
        var headers: HTTPFields = [.userAgent: "test/1", try name("X-Custom"): "a"]
        headers.append(HTTPField(name: .cookie, value: "a=1"))
        headers.append(HTTPField(name: .cookie, value: "b=2"))
        #expect(
            try fields(request(.get, "https://host/", headers)) == Self.start + [
                "user-agent: test/1", "x-custom: a", "cookie: a=1", "cookie: b=2",
            ])
    }

    /// RFC 9113 §8.2.2.
    @Test(arguments: [
        "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade", "Host",
        "Content-Length", "HTTP2-Settings", "TE",
    ])
    func connectionSpecific(_ text: String) throws {
        #expect(try fields(request(.get, "https://host/", [name(text): "chunked"])) == Self.start)
    }

    @Test func teTrailers() throws {
        #expect(
            try fields(request(.get, "https://host/", [name("TE"): "trailers"])) == Self.start + [
                "te: trailers"
            ])
    }

    @Test func bodies() throws {
        let post = try request(
            .post, "https://host/", body: .data(Data("x".utf8), contentType: "a/b"))
        #expect(
            try fields(post, body: RequestHead.Body(length: 1)).dropFirst(4) == [
                "content-type: a/b", "content-length: 1",
            ])
        #expect(try fields(post, body: RequestHead.Body()).dropFirst(4) == ["content-type: a/b"])
        #expect(
            try fields(post, body: RequestHead.Body(trailers: ["X-Sum", "X-T"])).dropFirst(4) == [
                "content-type: a/b", "trailer: X-Sum, X-T",
            ])
        for method in [HTTPMethod.post, .put, .patch] {
            #expect(try fields(request(method)).last == "content-length: 0")
            #expect(
                try fields(request(method), body: RequestHead.Body(length: 0)).last
                    == "content-length: 0")
        }
        #expect(try fields(request(.delete)).count == 4)
    }

    @Test func stream() throws {
        func stream(_ method: HTTPMethod, _ body: RequestHead.Body?) throws -> StreamState.Request {
            try RequestHead(request(method), body: body, codings: nil).stream
        }
        #expect(try !stream(.get, nil).hasBody)
        #expect(try !stream(.post, RequestHead.Body(length: 0)).hasBody)
        #expect(try stream(.post, RequestHead.Body(length: 1)).hasBody)
        #expect(try stream(.post, RequestHead.Body()).hasBody)
        #expect(try stream(.post, RequestHead.Body(length: 0, trailers: ["X-Sum"])).hasBody)
        #expect(try stream(.head, nil).isHead)
        #expect(try !stream(.get, nil).isHead)
    }

    @Test func codings() throws {
        #expect(try fields(request(), codings: "gzip").last == "accept-encoding: gzip")
        #expect(try fields(request(), codings: nil) == Self.start)
        for name in [HTTPField.Name.range, .acceptEncoding] {
            let own = try fields(request(.get, "https://host/", [name: "x"]), codings: "gzip")
            #expect(own.dropFirst(4) == ["\(name.canonicalName): x"])
        }
        var plain = try request()
        plain.options.decodesContent = false
        #expect(try fields(plain, codings: "gzip") == Self.start)
    }

    @Test func expect() throws {
        let put = try request(.put, "https://host/", [.expect: "100-Continue"])
        #expect(try fields(put).dropFirst(4) == ["content-length: 0"])
        #expect(
            try fields(put, body: RequestHead.Body(length: 1)).dropFirst(4) == [
                "expect: 100-Continue", "content-length: 1",
            ])
    }

    /// RFC 8441 §4: the extended CONNECT names the protocol, and the stream stays open.
    @Test func extendedConnect() throws {
        let request = try request(.get, "https://host/chat")
        #expect(
            try fields(request, protocolName: "websocket") == [
                ":method: CONNECT", ":scheme: https", ":authority: host", ":path: /chat",
                ":protocol: websocket",
            ])
        let head = try RequestHead(request, body: nil, codings: nil, protocolName: "websocket")
        #expect(head.stream.isConnect && head.stream.hasBody)
    }

    @Test func refused() throws {
        let values = [HTTPMethod("BAD METHOD"), HTTPMethod("CONNECT")]
        for method in values {
            #expect(throws: RequestError.self) { try fields(request(method)) }
        }
        #expect(throws: RequestError.self) {
            try fields(request(.get, "https://host/", [.proxyAuthorization: "Basic eA=="]))
        }
        #expect(throws: RequestError.self) {
            try fields(request(.post), body: RequestHead.Body(trailers: ["Content-Length"]))
        }
    }

    // MARK: - Errors

    @Test func errors() {
        let unprocessed = StreamFailure.unprocessed(.refusedStream).error(
            host: "host", hasHead: false)
        #expect(unprocessed?.code == .connectionLost)
        #expect(unprocessed?.isUnprocessed == true)
        #expect(StreamFailure.complete.error(host: "host", hasHead: true) == nil)
        let codes: [(StreamFailure, RequestError.Code)] = [
            (.requiresHTTP11, .badServerResponse), (.reset(.cancel), .connectionLost),
            (.malformed(.lacksColon), .badServerResponse),
            (.tooLarge(limit: 5), .badServerResponse),
            (.truncated, .truncatedBody), (.fault(.afterEnd), .badServerResponse),
        ]
        for (failure, code) in codes {
            let error = failure.error(host: "host", hasHead: true)
            #expect(error?.code == code)
            #expect(error?.isUnprocessed == false)
        }
        #expect(
            StreamFailure.reset(.internalError).error(host: "host", hasHead: false)?.message
                == "host ended the HTTP/2 stream (INTERNAL_ERROR) before the response arrived. Try again."
        )
    }

    /// The stream of an extended CONNECT takes the place of the key (RFC 8441 §5).
    @Test(arguments: [nil, "websocket"])
    func keyIsLeftOutOfAnExtendedConnect(protocolName: String?) throws {
        var request = TransportRequest(url: try HTTPURL(parsing: "https://a/"))
        let name = try #require(HTTPField.Name("Sec-WebSocket-Key"))
        request.headers[name] = "dGhlIHNhbXBsZSBub25jZQ=="
        let head = try RequestHead(
            request, body: nil, codings: nil, protocolName: protocolName)
        #expect(head.fields.contains { $0.name == name } == (protocolName == nil))
    }

    /// The size that `SETTINGS_MAX_HEADER_LIST_SIZE` limits (RFC 9113 §6.5.2).
    @Test func sizeCountsNamesValuesAndOverhead() throws {
        var request = TransportRequest(url: try HTTPURL(parsing: "https://a.test/p?q"))
        request.options.decodesContent = false
        let plain = try RequestHead(request, body: nil, codings: nil)
        // `:method GET`, `:scheme https`, `:authority a.test`, `:path /p?q`.
        #expect(plain.listSize == 7 + 3 + 7 + 5 + 10 + 6 + 5 + 4 + 4 * 32)
        request.headers[.userAgent] = "abc"
        let larger = try RequestHead(request, body: nil, codings: nil)
        #expect(larger.listSize == plain.listSize + 10 + 3 + 32)
    }
}
