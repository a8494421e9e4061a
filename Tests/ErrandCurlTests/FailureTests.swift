import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Every network and server failure ends the transfer once, with a typed error.
@Suite(.limited)
struct FailureTests {
    /// Sends these bytes in response to the first request of each connection, then closes it.
    static func responding(_ text: String) throws -> RawServer {
        let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        return try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(bytes)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let response: String
        let code: RequestError.Code?
        init(_ name: String, _ response: String, _ code: RequestError.Code?) {
            testDescription = name
            self.response = response
            self.code = code
        }
    }

    static let ok = "HTTP/1.1 200 OK\r\n"
    static let cases: [Case] = [
        Case("nothing", "", .connectionLost),
        Case("garbage", "\u{1}\u{2}garbage\r\n\r\n", .badServerResponse),
        Case("HTTP/0.9", "<html>hello</html>", .badServerResponse),
        Case("half a status line", "HTTP/1.1 2", .connectionLost),
        Case("status line only", ok, .connectionLost),
        Case("head cut off", ok + "Content-Type: text/pl", .connectionLost),
        Case("head without blank line", ok + "Content-Length: 0\r\n", .connectionLost),
        Case("head without remaining lines", ok + "Content-Length: 5\r\n", .connectionLost),
        Case("head without LF", ok + "Content-Length: 5\r\n\r", .connectionLost),
        Case("interim only", "HTTP/1.1 100 Continue\r\n\r\n", .connectionLost),
        Case("status of two digits", "HTTP/1.1 20 OK\r\n\r\n", .badServerResponse),
        Case("status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", .badServerResponse),
        Case("status 000", "HTTP/1.1 000 OK\r\n\r\n", .badServerResponse),
        Case("status 999", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", nil),
        Case("version 9", "HTTP/9.9 200 OK\r\n\r\n", .badServerResponse),
        Case("101 unsolicited", "HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", .badServerResponse),
        Case("no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", nil),
        Case("LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", nil),
        Case("no space after colon", ok + "Content-Length:2\r\n\r\nhi", nil),
        Case("name is not a token", ok + "X(A): 1\r\nContent-Length: 2\r\n\r\nhi", nil),
        Case(
            "name resembles Transfer-Encoding",
            ok + "Transfer-Encoding\u{B}: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", .badServerResponse),
        Case(
            "name resembles Content-Length",
            ok + "Content(-Length: 2\r\nContent-Length: 2\r\n\r\nhi", .badServerResponse),
        Case("Latin-1 value", ok + "X-A: gr\u{FC}n\r\nContent-Length: 2\r\n\r\nhi", nil),
        Case("folded line", ok + "X-A: 1\r\n  2\r\nContent-Length: 2\r\n\r\nhi", nil),
        Case("line without colon", ok + "nonsense\r\n\r\n", .badServerResponse),
        Case("NUL in a header", ok + "X-A: a\0b\r\n\r\n", .badServerResponse),
        Case("length cut short", ok + "Content-Length: 10\r\n\r\nhi", .truncatedBody),
        Case("length negative", ok + "Content-Length: -1\r\n\r\nhi", .badServerResponse),
        Case("length is text", ok + "Content-Length: two\r\n\r\nhi", .badServerResponse),
        Case(
            "lengths differ", ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
            .badServerResponse),
        Case("lengths equal", ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", nil),
        Case(
            "length of 2^63", ok + "Content-Length: 9223372036854775808\r\n\r\nhi",
            .badServerResponse),
        Case(
            "length near 2^63", ok + "Content-Length: 9223372036854775807\r\n\r\nhi",
            .truncatedBody),
        Case("space before colon", ok + "Content-Length : 2\r\n\r\nhi", .badServerResponse),
        Case(
            "space before colon of another field", ok + "X-A : 1\r\nContent-Length: 2\r\n\r\nhi",
            .badServerResponse),
        Case(
            "length and chunked",
            ok + "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            .badServerResponse),
        Case("chunk cut off", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhi", .truncatedBody),
        Case(
            "last chunk missing", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
            .truncatedBody),
        Case(
            "bad chunk size", ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n",
            .badServerResponse),
        Case(
            "unknown transfer coding", ok + "Transfer-Encoding: rot13\r\n\r\nhi",
            .badServerResponse),
        Case("until close", ok + "\r\nhi", nil),
        Case("204 with a body", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nhi", nil),
    ]

    @Test(arguments: cases)
    func unusualResponsesHaveTypedResults(_ item: Case) async throws {
        let server = try Self.responding(item.response)
        let transport = CurlTransport()
        // Replay is allowed, as for a GET by an agent, because the server may close the kept
        // connection as the second request arrives.
        func allowReplay(_ request: inout TransportRequest) { request.options.mayReplay = true }
        let record = try await transport.run(.get, server.url(), change: allowReplay)
        #expect(record.error?.code == item.code, "\(String(describing: record.error))")
        #expect(record.ends == 1)
        #expect(record.violations.isEmpty)
        if item.code == nil { #expect(record.head != nil) }
        let again = try await transport.run(.get, server.url(), change: allowReplay)
        #expect(again.error?.code == item.code)
    }

    @Test func resetAtAnyByteFails() async throws {
        let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8)
        let transport = CurlTransport()
        for count in 0..<response.count {
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write(Array(response[..<count]))
                connection.reset()
            }
            let record = try await transport.run(.get, server.url())
            #expect(record.error != nil, "\(count)")
            #expect(record.ends == 1)
        }
    }

    /// The server has not read the upload, so closing resets the connection.
    ///
    /// The write that fails takes the error, and the reads that follow find the end of the input.
    @Test func resetDuringAnUploadTruncatesABodyWithoutLength() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\n\r\npartial")
            connection.reset()
        }
        // More than the buffers of both sockets hold.
        let body = HTTPBody.data(Data(count: 64 << 20))
        for _ in 0..<10 {
            let record = try await CurlTransport().run(.post, server.url(), body: body)
            #expect(record.error?.code == .connectionLost, "\(String(describing: record.error))")
            #expect(record.ends == 1)
        }
    }

    @Test func refusedConnection() async throws {
        let server = try RawServer { _ in }
        server.stop()
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error?.code == .cannotConnect)
        #expect(record.error?.stage == .transport)
        #expect((record.error?.underlying as? CurlError)?.code == 7)
        #expect(record.end?.timings.reusedConnection == nil)
    }

    @Test func unknownHost() async throws {
        let record = try await CurlTransport().run(.get, "http://does-not-exist.invalid/")
        #expect(record.error?.code == .cannotFindHost)
    }

    @Test func tlsToPlainServerFails() async throws {
        let server = try RawServer { connection in
            _ = connection.readBody(5)
            connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        let record = try await CurlTransport().run(.get, "https://127.0.0.1:\(server.port)/")
        #expect(record.error?.code == .secureConnectionFailed)
    }

    @Test func fiveThousandFields() async throws {
        let lines = (0..<5000).map { "X-\($0): \($0)\r\n" }.joined()
        let server = try Self.responding(Self.ok + lines + "Content-Length: 2\r\n\r\nhi")
        let record = try await CurlTransport().run(.get, server.url())
        #expect(record.error == nil)
        #expect(record.head?.headers.count == 5001)
    }

    @Test(arguments: [1 << 20, 90 << 10])
    func longLine(length: Int) async throws {
        let line = "X-Long: " + String(repeating: "a", count: length) + "\r\n"
        let server = try Self.responding(Self.ok + line + "Content-Length: 2\r\n\r\nhi")
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.maximumHeadBytes = 100 << 10
        }
        #expect(record.error?.code == (length < 100 << 10 ? nil : .badServerResponse))
    }

    @Test func headBeyondLimitFails() async throws {
        let server = try Self.responding(
            Self.ok + "X-A: 0123456789\r\nContent-Length: 2\r\n\r\nhi")
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.maximumHeadBytes = 40
        }
        #expect(record.error?.code == .badServerResponse)
    }

    @Test func bodyBeyondLimitFails() async throws {
        let server = try CancelTests.endless()
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.maximumBodyBytes = 100_000
        }
        #expect(record.error?.code == .bodyTooLarge)
        #expect(record.body.count <= 100_000)
    }

    @Test func errorsContainNoSecrets() async throws {
        let server = try Self.responding("")
        let record = try await CurlTransport().run(
            .get, server.url("/path?token=sesame"), headers: [.authorization: "Bearer sesame"])
        let error = try #require(record.error)
        #expect(!String(describing: error).contains("sesame"))
        #expect(!String(reflecting: error).contains("sesame"))
    }
}
