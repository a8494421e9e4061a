import ErrandTransport
import Foundation
import HTTPTypes
import Testing

@testable import ErrandCurl

/// Request heads have the form of RFC 9112, and nothing in a request can add a line to them.
struct RequestWriterTests {
    private func write(
        _ request: TransportRequest, body: RequestWriter.BodyLength = .none,
        target: RequestWriter.Target = .origin
    ) throws -> [String] {
        let first = try writeOnce(request, body: body, target: target)
        // From the second time on, the head is kept.
        for _ in 2...4 { #expect(try writeOnce(request, body: body, target: target) == first) }
        return first
    }

    private func writeOnce(
        _ request: TransportRequest, body: RequestWriter.BodyLength, target: RequestWriter.Target
    ) throws -> [String] {
        let buffer = TextBuffer(capacity: 1)
        buffer.append("before")
        do {
            try RequestWriter.write(request, body: body, target: target, into: buffer)
        } catch {
            // Nothing of a refused request may stay in the buffer.
            #expect(String(decoding: buffer.contents, as: UTF8.self) == "before")
            throw error
        }
        let text = String(decoding: buffer.contents, as: UTF8.self)
        #expect(text.hasPrefix("before") && text.hasSuffix("\r\n\r\n"))
        var lines = text.dropFirst("before".count).components(separatedBy: "\r\n")
        lines.removeLast(2)
        return lines
    }

    private func request(
        _ method: HTTPMethod = .get, _ url: String = "http://host/", _ headers: HTTPFields = [:],
        body: HTTPBody? = nil, decodes: Bool = false
    ) throws -> TransportRequest {
        var request = TransportRequest(
            method: method, url: try HTTPURL(parsing: url), headers: headers, body: body)
        request.options.decodesContent = decodes
        return request
    }

    @Test func headThatIsWrittenAgainForOneSendingIsNotKept() throws {
        let request = try request()
        for isRepeated in [false, true, true] {
            try RequestWriter.write(
                request, body: .none, isRepeated: isRepeated, into: TextBuffer(capacity: 1))
            #expect(request.writtenHead == nil)
        }
        try RequestWriter.write(request, body: .none, into: TextBuffer(capacity: 1))
        #expect(request.writtenHead != nil)
    }

    @Test func headThatIsKeptBelongsToOneRequestAlone() throws {
        var request = try request(.post, "http://host/a")
        #expect(request.writtenHead == nil)
        let head = ["POST /a HTTP/1.1", "Host: host", "Content-Length: 0"]
        #expect(try write(request) == head)
        #expect(request.writtenHead != nil)
        #expect(
            try write(request, target: .absolute(proxyAuthorization: "x")) == [
                "POST http://host/a HTTP/1.1", "Host: host", "Proxy-Authorization: x",
                "Content-Length: 0",
            ])
        #expect(
            try write(request, body: .bytes(7)) == [
                "POST /a HTTP/1.1", "Host: host", "Content-Length: 7",
            ])
        #expect(try write(request) == head)
        request.method = .get
        #expect(request.writtenHead == nil)
        #expect(try write(request) == ["GET /a HTTP/1.1", "Host: host"])
        request.headers[.proxyAuthorization] = "Basic eDp5"
        for _ in 0..<3 { #expect(throws: RequestError.self) { try write(request) } }
        #expect(request.writtenHead == nil)
    }

    private func name(_ text: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(text))
    }

    @Test func headHasFieldsInOrder() throws {
        var headers: HTTPFields = [.userAgent: "test/1", try name("x-LOWER"): ""]
        headers.append(HTTPField(name: .cookie, value: "a=1"))
        headers.append(HTTPField(name: .accept, value: "*/*"))
        headers.append(HTTPField(name: .cookie, value: "b=gr\u{FC}n"))
        let lines = try write(request(.get, "http://host:81/a/../b?q=1&r", headers, decodes: true))
        #expect(
            lines == [
                "GET /a/../b?q=1&r HTTP/1.1", "Host: host:81", "User-Agent: test/1", "x-LOWER:",
                "Cookie: a=1", "Accept: */*", "Cookie: b=gr\u{FC}n",
                "Accept-Encoding: \(ContentCoding.announcement)",
            ])
    }

    @Test(arguments: [
        ("http://host", "/", "host"), ("http://host?q", "/?q", "host"),
        ("http://host:80/x", "/x", "host"), ("https://host:443/x", "/x", "host"),
        ("https://host:80/x", "/x", "host:80"), ("http://[::1]:8080/x", "/x", "[::1]:8080"),
        ("http://H\u{F6}st/\u{E4} b#f", "/%C3%A4%20b", "xn--hst-sna"),
        ("http://host//other/x", "//other/x", "host"),
    ])
    func targetHasOriginForm(url: String, target: String, host: String) throws {
        #expect(try write(request(.get, url)) == ["GET \(target) HTTP/1.1", "Host: \(host)"])
    }

    @Test func proxyGetsAbsoluteFormAndItsCredentials() throws {
        let request = try request(.get, "http://host:81/a?b")
        #expect(
            try write(request, target: .absolute(proxyAuthorization: "Basic eA==")) == [
                "GET http://host:81/a?b HTTP/1.1", "Host: host:81",
                "Proxy-Authorization: Basic eA==",
            ])
        #expect(
            try write(request, target: .absolute(proxyAuthorization: nil)) == [
                "GET http://host:81/a?b HTTP/1.1", "Host: host:81",
            ])
    }

    @Test func fieldsOfTransportAreReplaced() throws {
        let headers: HTTPFields = [
            try name("Host"): "evil", .contentLength: "99", .transferEncoding: "chunked",
            .connection: "close",
        ]
        #expect(
            try write(request(.post, "http://host/", headers), body: .bytes(5)) == [
                "POST / HTTP/1.1", "Host: host", "Connection: close", "Content-Length: 5",
            ])
    }

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func missingBodyIsAnnounced(method: String) throws {
        #expect(try write(request(HTTPMethod(method))).last == "Content-Length: 0")
        #expect(
            try write(request(HTTPMethod(method)), body: .bytes(0)).last == "Content-Length: 0")
    }

    @Test(arguments: ["GET", "HEAD", "DELETE", "QUERY", "PURGE"])
    func missingBodyIsNotAnnounced(method: String) throws {
        #expect(try write(request(HTTPMethod(method))).count == 2)
        #expect(try write(request(HTTPMethod(method)), body: .chunked()).count == 3)
    }

    @Test func contentTypeComesFromBody() throws {
        let body = HTTPBody.data(Data("x".utf8), contentType: "a/b")
        #expect(
            try write(request(.post, body: body), body: .bytes(1)).dropFirst(2)
                == ["Content-Type: a/b", "Content-Length: 1"])
        let named: HTTPFields = [.contentType: "c/d"]
        #expect(
            try write(request(.post, "http://host/", named, body: body), body: .bytes(1))
                .dropFirst(2) == ["Content-Type: c/d", "Content-Length: 1"])
    }

    @Test(arguments: [HTTPField.Name.range, .acceptEncoding])
    func codingsAreNotAnnouncedTwiceOrForRanges(name: HTTPField.Name) throws {
        let lines = try write(request(.get, "http://host/", [name: "bytes=0-1"], decodes: true))
        #expect(lines.dropFirst(2) == ["\(name.rawName): bytes=0-1"])
    }

    /// A client must not wait with a body that it does not have (RFC 9110 §10.1.1).
    @Test func continueIsExpectedForABodyOnly() throws {
        let request = try request(.put, "http://host/", [.expect: "100-Continue"])
        let line = "Expect: 100-Continue"
        for body in [RequestWriter.BodyLength.none, .bytes(0)] {
            #expect(try write(request, body: body).dropFirst(2) == ["Content-Length: 0"])
        }
        for body in [RequestWriter.BodyLength.bytes(1), .chunked()] {
            #expect(try write(request, body: body).contains(line))
        }
        let other = try self.request(.get, "http://host/", [.expect: "other"])
        #expect(try write(other).dropFirst(2) == ["Expect: other"])
    }

    @Test func trailersAreAnnounced() throws {
        var request = try request(.post)
        // The body's trailers replace an announcement of the caller's own.
        request.headers[.trailer] = "X-Other"
        #expect(
            try write(request, body: .chunked(trailers: ["X-Sum", "X-B"])).dropFirst(2)
                == ["Transfer-Encoding: chunked", "Trailer: X-Sum, X-B"])
        #expect(try write(request, body: .chunked()).contains("Trailer: X-Other"))
    }

    // MARK: - Refused requests

    private func refusal(
        _ request: TransportRequest, body: RequestWriter.BodyLength = .none,
        target: RequestWriter.Target = .origin
    ) -> RequestError.Code? {
        do {
            _ = try write(request, body: body, target: target)
            return nil
        } catch {
            #expect((error as? RequestError)?.stage == .build)
            return (error as? RequestError)?.code
        }
    }

    @Test(arguments: ["GET /x HTTP/1.1\r\nA: b\r\n\r\nGET", "", "A B", "A\0", "A\n"])
    func methodThatIsNotTokenIsRefused(method: String) throws {
        #expect(try refusal(request(HTTPMethod(method))) == .invalidMethod)
    }

    @Test func urlWithoutHostIsRefused() throws {
        #expect(try refusal(request(.get, "/path")) == .invalidURL)
        var request = try request()
        request.url.host = "a b"
        #expect(refusal(request) == .invalidURL)
    }

    @Test func proxyCredentialsForServerAreRefused() throws {
        let headers: HTTPFields = [.proxyAuthorization: "Basic eA=="]
        #expect(try refusal(request(.get, "http://host/", headers)) == .invalidHeader)
    }

    @Test(arguments: ["a\r\nX: y", "a\n", "\0", "\r"])
    func lineEndInValueIsRefusedOrReplaced(value: String) throws {
        #expect(
            try refusal(request(), target: .absolute(proxyAuthorization: value))
                == .invalidHeader)
        // swift-http-types replaces these bytes by spaces.
        let headers: HTTPFields = [try name("X-A"): value]
        let lines = try write(request(.get, "http://host/", headers))
        #expect(lines.count == 3 && !lines[2].utf8.contains { $0 < 0x20 })
    }

    @Test(arguments: [
        "Content-Length", "transfer-encoding", "Host", "Authorization", "Trailer", "A\r\nB", "",
    ])
    func trailerThatIsNeededBeforeBodyIsRefused(field: String) throws {
        #expect(
            try refusal(request(.post), body: .chunked(trailers: [field])) == .invalidHeader)
    }
}
