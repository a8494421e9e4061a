import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Requests and responses in the absence of errors, with both HTTP/1.1 engines.
@Suite(.limited)
struct PlainRequestTests {
    /// Responds to every request with the request's head and body, and keeps the connection open.
    static func echo() throws -> RawServer {
        try RawServer { connection in
            while let head = connection.readHead() {
                var body: [UInt8] = []
                let lines = head.split(separator: "\r\n")
                if let line = lines.first(where: { $0.lowercased().hasPrefix("content-length:") }) {
                    let number = line.split(separator: ":")[1].trimmingPrefix(" ")
                    body = connection.readBody(Int(number) ?? 0)
                } else if head.lowercased().contains("transfer-encoding: chunked") {
                    body = connection.readChunks()
                }
                let response = Array(head.utf8) + body
                let start = "HTTP/1.1 200 OK\r\nContent-Length: \(response.count)\r\n\r\n"
                connection.write(Array(start.utf8) + (head.hasPrefix("HEAD") ? [] : response))
            }
        }
    }

    private func text(_ record: RecordingReceiver.Record) -> String {
        String(decoding: record.body, as: UTF8.self)
    }

    @Test func getSendsRequestAsBuilt() async throws {
        let server = try Self.echo()
        var headers = HTTPFields()
        headers.append(HTTPField(name: .userAgent, value: "test/1"))
        headers.append(HTTPField(name: try #require(.init("x-LOWER")), value: ""))
        headers.append(HTTPField(name: .cookie, value: "a=1"))
        headers.append(HTTPField(name: .cookie, value: "b=2"))
        let record = try await CurlTransport().run(
            .get, server.url("/a/../b/%C3%A4?q=1&r"), headers: headers)
        #expect(record.error == nil)
        #expect(record.head?.status == .ok)
        #expect(record.head?.httpVersion == .http11)
        #expect(record.head?.remoteAddress == "127.0.0.1:\(server.port)")
        #expect(
            text(record)
                == """
                GET /a/../b/%C3%A4?q=1&r HTTP/1.1\r
                Host: 127.0.0.1:\(server.port)\r
                User-Agent: test/1\r
                x-LOWER:\r
                cookie: a=1\r
                cookie: b=2\r
                Accept-Encoding: gzip, deflate, br, zstd\r
                \r

                """.replacing("cookie", with: "Cookie"))
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET", "QUERY", "PURGE"])
    func bodyIsSentWithContentLength(method: String) async throws {
        let server = try Self.echo()
        let record = try await CurlTransport().run(
            HTTPMethod(method), server.url(), body: .data(Data("hello".utf8)))
        #expect(record.error == nil)
        #expect(text(record).hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(text(record).contains("Content-Length: 5\r\n"))
        #expect(!text(record).contains("Transfer-Encoding"))
        #expect(!text(record).contains("Expect"))
        #expect(text(record).hasSuffix("\r\n\r\nhello"))
        #expect(record.sent == 5)
    }

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func emptyBodySendsZeroContentLength(method: String) async throws {
        let server = try Self.echo()
        let transport = CurlTransport()
        for body in [HTTPBody.data(Data()), nil] {
            let record = try await transport.run(HTTPMethod(method), server.url(), body: body)
            #expect(record.error == nil)
            #expect(text(record).contains("Content-Length: 0\r\n"))
        }
        let get = try await transport.run(.get, server.url())
        #expect(!text(get).contains("Content-Length"))
        #expect(server.connections == 1)
    }

    @Test func streamOfUnknownLengthIsChunked() async throws {
        let server = try Self.echo()
        let body = HTTPBody.stream {
            AsyncStream<Data> { continuation in
                for index in 0..<3 { continuation.yield(Data("part\(index) ".utf8)) }
                continuation.finish()
            }
        }
        let record = try await CurlTransport().run(.post, server.url(), body: body)
        #expect(record.error == nil)
        #expect(text(record).contains("Transfer-Encoding: chunked\r\n"))
        #expect(!text(record).contains("Content-Length"))
        #expect(text(record).hasSuffix("part0 part1 part2 "))
    }

    @Test func headHasNoBody() async throws {
        let server = try Self.echo()
        let transport = CurlTransport()
        let record = try await transport.run(.head, server.url())
        #expect(record.error == nil)
        #expect(record.head?.status == .ok)
        #expect(record.head?.headers[.contentLength] != nil)
        #expect(record.body.isEmpty)
        let next = try await transport.run(.get, server.url())
        #expect(next.error == nil)
        #expect(!next.body.isEmpty)
    }

    @Test func connectionsAreReused() async throws {
        let server = try Self.echo()
        let transport = CurlTransport()
        for index in 0..<20 {
            // Each path is requested twice in a row.
            let record = try await transport.run(.get, server.url("/\(index / 2)"))
            #expect(record.error == nil)
            #expect(text(record).hasPrefix("GET /\(index / 2) HTTP/1.1\r\n"))
            let end = try #require(record.end)
            #expect(end.timings.reusedConnection == (index > 0))
            #expect((end.timings.connected == nil) == (index > 0))
            #expect(end.timings.firstByte != nil)
            #expect(end.timings.bytesReceived == Int64(record.body.count))
            #expect(end.timings.bytesSent > 20)
        }
        #expect(server.connections == 1)
    }

    @Test func interimResponsesAndTrailersAreDelivered() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                    + "HTTP/1.1 200 Fine\r\nX-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "3\r\nabc\r\n0\r\nX-Sum: 9\r\nx-sum: 10\r\n\r\n")
        }
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error == nil)
        #expect(record.informational.map(\.status.code) == [103, 100])
        #expect(record.head?.status.reasonPhrase == "Fine")
        let name = try #require(HTTPField.Name("X-A"))
        #expect(record.head?.headers[values: name] == ["1", "2"])
        #expect(record.body == Data("abc".utf8))
        let sum = try #require(HTTPField.Name("X-Sum"))
        #expect(record.end?.trailers[values: sum] == ["9", "10"])
        #expect(record.violations.isEmpty)
    }
}
