import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Heads that exceed the request's limit.
@Suite(.limited)
struct HeadLimitTests {
    @Test func requestLimitApplies() async throws {
        #expect(try await runHead(headerLine(60_000), limit: 61_000) == nil)
        let error = try #require(try await runHead(headerLine(60_000), limit: 59_000))
        #expect(error.code == .badServerResponse)
        #expect(error.message.contains("larger than 59000 bytes"))
        #expect(error.message.contains("raise maximumHeadBytes"))
    }
}

/// Only the request limits heads; libcurl's own limits do not apply.
@Suite(.limited)
struct LargeHeadTests {
    @Test(arguments: [110_000, 1 << 20])
    func longLineIsReceived(length: Int) async throws {
        #expect(try await runHead(headerLine(length), limit: 8 << 20) == nil)
    }

    @Test(arguments: [290, 400])
    func manyLinesAreReceived(count: Int) async throws {
        let lines = String(repeating: headerLine(1000), count: count)
        #expect(try await runHead(lines, limit: 8 << 20) == nil)
    }
}

/// Returns the error for a response with these header lines.
private func runHead(
    _ head: String, limit: Int
) async throws -> RequestError? {
    let server = try RawServer { connection in
        while connection.readHead() != nil {
            connection.write("HTTP/1.1 200 OK\r\n\(head)Content-Length: 2\r\n\r\nhi")
        }
    }
    defer { server.stop() }
    let record = try await CurlTransport()
        .run(.get, server.url()) { $0.options.maximumHeadBytes = limit }
    #expect(record.error != nil || record.body == Data("hi".utf8))
    return record.error
}

private func headerLine(_ length: Int) -> String {
    "X-Long: \(String(repeating: "v", count: length - 10))\r\n"
}
