import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import Testing

/// Heads that exceed the request's limit or libcurl's fixed limits.
@Suite(.timeLimit(.minutes(5)))
struct HeadLimitTests {
    private func run(_ head: String, limit: Int) async throws -> RequestError? {
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\n\(head)Content-Length: 2\r\n\r\nhi")
            }
        }
        defer { server.stop() }
        let record = try await CurlTransport().run(.get, server.url()) {
            $0.options.maximumHeadBytes = limit
        }
        #expect(record.error != nil || record.body == Data("hi".utf8))
        return record.error
    }

    private func line(_ length: Int) -> String {
        "X-Long: \(String(repeating: "v", count: length - 10))\r\n"
    }

    @Test func requestLimitApplies() async throws {
        #expect(try await run(line(60_000), limit: 61_000) == nil)
        let error = try #require(try await run(line(60_000), limit: 59_000))
        #expect(error.code == .badServerResponse)
        #expect(error.message.contains("larger than 59000 bytes"))
        #expect(error.message.contains("raise maximumHeadBytes"))
    }

    /// The limit of a line is libcurl's and cannot be configured; the error states this.
    @Test(arguments: [110_000, 1 << 20])
    func lineBeyondLibcurlLimitFails(length: Int) async throws {
        #expect(try await run(line(100_000), limit: 8 << 20) == nil)
        let error = try #require(try await run(line(length), limit: 8 << 20))
        #expect(error.code == .badServerResponse, "\(error)")
        #expect(error.message.contains("longer than libcurl's fixed limit of 100 KB"))
        #expect(error.underlying is CurlError)
    }

    @Test func headBeyondLibcurlLimitFails() async throws {
        let lines = String(repeating: line(1000), count: 290)
        #expect(try await run(lines, limit: 8 << 20) == nil)
        let more = String(repeating: line(1000), count: 400)
        let error = try #require(try await run(more, limit: 8 << 20))
        #expect(error.code == .badServerResponse, "\(error)")
        #expect(error.message.contains("exceeds libcurl's fixed limit of 300 KB"))
        #expect(error.underlying is CurlError)
    }
}
