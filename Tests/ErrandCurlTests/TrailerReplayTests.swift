import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// A request with trailers that is sent again on another connection has its trailers again.
@Suite(.limited)
struct TrailerReplayTests {
    /// Everything that follows the head of a chunked request, as text.
    private static func content(_ connection: RawConnection) -> String {
        var text = ""
        var hasLastChunk = false
        while let line = connection.readLine() {
            text += line + "|"
            if hasLastChunk, line.isEmpty { return text }
            if line == "0" { hasLastChunk = true }
        }
        return text + "end"
    }

    private final class Calls: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private static func body(_ calls: Calls) -> HTTPBody {
        HTTPBody.string("abc").trailers([.custom("X-Sum")], into: 0) { sum, bytes in
            for byte in bytes { sum += Int(byte) }
        } fields: { sum in
            [.custom("X-Sum"): "\(sum)", .custom("x-sum"): "\(calls.next())"]
        }
    }

    @Test func trailersAreSentAgainAfterADeadConnection() async throws {
        let contents = Mutex<[String]>([])
        let calls = Calls()
        let dropped = Mutex(false)
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                guard head.hasPrefix("PUT") else {
                    connection.respond("kept")
                    continue
                }
                let content = Self.content(connection)
                #expect(head.contains("Trailer: X-Sum") == content.contains("X-Sum"))
                contents.withLock { $0.append(content) }
                let drops = dropped.withLock { dropped in
                    defer { dropped = true }
                    return !dropped
                }
                if drops { return }
                connection.respond("stored")
            }
        }
        let transport = CurlTransport()
        _ = try await transport.run(.get, server.url())
        let record = try await transport.run(.put, server.url(), body: Self.body(calls)) {
            $0.options.mayReplay = true
        }
        #expect(record.error == nil, "\(String(describing: record.error))")
        #expect(record.text == "stored")
        #expect(
            contents.withLock { $0 } == [
                "3|abc|0|X-Sum: 294|x-sum: 1||", "3|abc|0|X-Sum: 294|x-sum: 2||",
            ])
        // The connection carries requests without trailers.
        let next = try await transport.run(.put, server.url(), body: .stream { Self.chunks() }) {
            $0.options.mayReplay = true
        }
        #expect(next.text == "stored")
        #expect(contents.withLock { $0.last } == "5|plain|0||")
        // So does it carry further requests with trailers.
        let last = try await transport.run(.put, server.url(), body: Self.body(calls)) {
            $0.options.mayReplay = true
        }
        #expect(last.text == "stored")
        #expect(contents.withLock { $0.last } == "3|abc|0|X-Sum: 294|x-sum: 3||")
        #expect(server.connections == 2)
    }

    /// The server may have acted on a request that it did not respond to.
    @Test func requestThatMustNotBeReplayedFails() async throws {
        let calls = Calls()
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                guard head.hasPrefix("POST") else {
                    connection.respond("kept")
                    continue
                }
                _ = Self.content(connection)
                return
            }
        }
        let transport = CurlTransport()
        _ = try await transport.run(.get, server.url())
        let record = try await transport.run(.post, server.url(), body: Self.body(calls))
        #expect(record.error?.code == .connectionLost)
        #expect(calls.next() == 2)
        #expect(server.connections == 1)
    }

    private static func chunks() -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data("plain".utf8))
            continuation.finish()
        }
    }

    @Test func expectedContinueIsFollowedByTheTrailers() async throws {
        let contents = Mutex<[String]>([])
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                let content = Self.content(connection)
                contents.withLock { $0.append(content) }
                connection.respond("stored")
            }
        }
        let record = try await CurlTransport().run(
            .post, server.url(), headers: [.expect: "100-continue"], body: Self.body(Calls()))
        #expect(record.error == nil && record.text == "stored")
        #expect(contents.withLock { $0 } == ["3|abc|0|X-Sum: 294|x-sum: 1||"])
    }

    /// A refusal before the end of the body makes the trailers useless.
    @Test func earlyRefusalEndsTheRequestWithoutTrailers() async throws {
        let (never, finish) = AsyncStream<Data>.makeStream()
        defer { finish.finish() }
        let calls = Mutex(0)
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")
                connection.waitForClose()
            }
        }
        let body = HTTPBody.stream { never }.trailers([.custom("X-Sum")]) {
            calls.withLock { $0 += 1 }
            return [:]
        }
        let record = try await CurlTransport().run(.post, server.url(), body: body)
        #expect(record.head?.status.code == 403 && record.text == "no")
        #expect(calls.withLock { $0 } == 0)
    }
}
