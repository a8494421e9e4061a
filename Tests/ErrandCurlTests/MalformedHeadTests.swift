import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Heads that libcurl and Errand could interpret differently, or that libcurl must not parse.
@Suite(.limited)
struct MalformedHeadTests {
    private let transport = CurlTransport()

    /// Sends this response to `/odd`, and a valid one to every other request.
    private func server(_ odd: String) throws -> RawServer {
        try RawServer { connection in
            while let head = connection.readHead() {
                guard head.hasPrefix("GET /odd") else {
                    connection.respond("good")
                    continue
                }
                connection.write(odd)
                return
            }
        }
    }

    /// Returns the result of the invalid response, between two valid ones on the same handle.
    private func outcome(_ odd: String) async throws -> RecordingReceiver.Record {
        let server = try server(odd)
        #expect(try await transport.run(.get, server.url()).error == nil)
        let record = try await transport.run(.get, server.url("/odd"))
        // The server closes after the invalid response, which may cross this request.
        let after = try await transport.run(.get, server.url()) { $0.options.mayReplay = true }
        #expect(after.error == nil)
        #expect(after.body == Data("good".utf8))
        return record
    }

    /// libcurl 7.88 joins such a line to one of the handle's previous response, in freed memory.
    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
            "HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\n",
            "HTTP/2 200 OK\r\n", "HTTP/2.0 200\r\n",
        ],
        [
            " X: y\r\n", "\tX: y\r\n", " \r\n", "  no colon\r\n", " : \r\n",
            " X: \(String(repeating: "y", count: 300))\r\n",
        ])
    func foldedFirstHeaderLineIsRejected(start: String, line: String) async throws {
        for _ in 0..<3 {
            let record = try await outcome("\(start)\(line)Content-Length: 2\r\n\r\nhi")
            #expect(record.error?.code == .badServerResponse, "\(start)\(line)")
            #expect(record.head == nil)
        }
    }

    @Test func laterFoldedLineIsJoined() async throws {
        let name = try #require(HTTPField.Name("X-Folded"))
        let record = try await outcome(
            "HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\nhi")
        #expect(record.error == nil && record.head?.headers[name] == "a b c")
    }

    @Test(arguments: [
        "Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding: chunked\r\n \r\n",
        "Content-Length: 2\r\n 3\r\n", "Content-Length: 2 3\r\n", "Content-Length: 2\t3\r\n",
        "Content-Length: 2, 2 2\r\n", "Transfer-Encoding: chun ked\r\n",
    ])
    func ambiguousFramingIsRejected(field: String) async throws {
        let record = try await outcome(
            "HTTP/1.1 200 OK\r\nX-A: b\r\n\(field)\r\n2\r\nhi\r\n0\r\n\r\n")
        #expect(record.error?.code == .badServerResponse, "\(field)")
        #expect(record.body.isEmpty)
    }

    @Test(arguments: ["HTTP/2 200 OK", "HTTP/2.0 200"])
    func unnegotiatedVersionIsRejected(line: String) async throws {
        let record = try await outcome("\(line)\r\nContent-Length: 2\r\n\r\nhi")
        #expect(record.error?.code == .badServerResponse)
    }

    @Test func malformedTrailerIsBadServerResponse() async throws {
        let record = try await outcome(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nnothing\r\n\r\n")
        #expect(record.error?.code == .badServerResponse)
    }
}
