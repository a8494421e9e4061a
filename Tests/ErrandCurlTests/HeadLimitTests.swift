import ErrandCore
import ErrandCurl
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Heads that exceed the request's limit.
@Suite(.limited, .bothEngines)
struct HeadLimitTests {
    @Test func requestLimitApplies() async throws {
        #expect(try await runHead(headerLine(60_000), limit: 61_000) == nil)
        let error = try #require(try await runHead(headerLine(60_000), limit: 59_000))
        #expect(error.code == .badServerResponse)
        #expect(error.message.contains("larger than 59000 bytes"))
        #expect(error.message.contains("raise maximumHeadBytes"))
    }
}

/// Heads that exceed libcurl's fixed limits, which cannot be configured; the errors state this.
///
/// The transport's own engine has only the request's limit.
@Suite(.limited)
struct FixedHeadLimitTests {
    @Test(arguments: [110_000, 1 << 20], [CurlConfiguration.HTTP1Engine.libcurl, .own])
    func lineBeyondLibcurlLimitFails(length: Int, engine: CurlConfiguration.HTTP1Engine)
        async throws
    {
        #expect(try await runHead(headerLine(100_000), limit: 8 << 20, engine) == nil)
        let error = try await runHead(headerLine(length), limit: 8 << 20, engine)
        guard engine == .libcurl else { return #expect(error == nil) }
        #expect(error?.code == .badServerResponse)
        #expect(error?.message.contains("longer than libcurl's fixed limit of 100 KB") == true)
        #expect(error?.underlying is CurlError)
    }

    @Test(arguments: [CurlConfiguration.HTTP1Engine.libcurl, .own])
    func headBeyondLibcurlLimitFails(engine: CurlConfiguration.HTTP1Engine) async throws {
        let lines = String(repeating: headerLine(1000), count: 290)
        #expect(try await runHead(lines, limit: 8 << 20, engine) == nil)
        let more = String(repeating: headerLine(1000), count: 400)
        let error = try await runHead(more, limit: 8 << 20, engine)
        guard engine == .libcurl else { return #expect(error == nil) }
        #expect(error?.code == .badServerResponse)
        #expect(error?.message.contains("exceeds libcurl's fixed limit of 300 KB") == true)
        #expect(error?.underlying is CurlError)
    }
}

/// Returns the error for a response with these header lines.
private func runHead(
    _ head: String, limit: Int, _ engine: CurlConfiguration.HTTP1Engine = BothEngines.current
) async throws -> RequestError? {
    let server = try RawServer { connection in
        while connection.readHead() != nil {
            connection.write("HTTP/1.1 200 OK\r\n\(head)Content-Length: 2\r\n\r\nhi")
        }
    }
    defer { server.stop() }
    let record = try await CurlTransport.tested { $0.http1Engine = engine }
        .run(.get, server.url()) { $0.options.maximumHeadBytes = limit }
    #expect(record.error != nil || record.body == Data("hi".utf8))
    return record.error
}

private func headerLine(_ length: Int) -> String {
    "X-Long: \(String(repeating: "v", count: length - 10))\r\n"
}
