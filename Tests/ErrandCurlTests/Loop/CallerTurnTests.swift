import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Requests that are sent from the thread that starts them, while the loop's thread sleeps.
@Suite(.limited)
struct CallerTurnTests {
    private static func responding() throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
    }

    @Test func recentOriginUsesCallerTurn() async throws {
        let server = try Self.responding()
        let transport = CurlTransport()
        // The test cannot control whether the loop sleeps at the next start, so it repeats until it
        // does.
        while transport.callerTurns == 0 {
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil && record.body == Data("hi".utf8))
            #expect(record.violations.isEmpty && record.ends == 1)
        }
        #expect(server.connections == 1)
    }

    /// Events that the loop's thread found before a caller's turn are stale after it.
    ///
    /// A response that was read in that turn is not unsolicited data on an idle connection. A
    /// failure shows only when other tests keep the processors busy.
    @Test func callerTurnDiscardsStaleEvents() async throws {
        let server = try Self.responding()
        let transport = CurlTransport()
        for _ in 0..<1000 {
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil)
        }
        #expect(server.connections == 1)
    }

    @Test func unknownOriginUsesLoopThread() async throws {
        let transport = CurlTransport()
        for _ in 0..<20 {
            let server = try Self.responding()
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil)
        }
        #expect(transport.callerTurns == 0)
    }

    @Test func uploadsUseLoopThread() async throws {
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                _ = connection.readBody(of: head)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
        let transport = CurlTransport()
        for _ in 0..<20 {
            let record = try await transport.run(
                .post, server.url(), body: .data(Data("ab".utf8)))
            #expect(record.error == nil)
        }
        #expect(transport.callerTurns == 0)
    }

    @Test func timeoutsApplyToCallerTurns() async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            // Later requests get no response.
            _ = connection.readHead()
            _ = connection.readHead()
        }
        // The loop sleeps without limit, so the caller's turn has to wake it for the new deadline.
        for _ in 0..<10 {
            let transport = CurlTransport()
            let first = try await transport.run(.get, server.url()) { $0.timeouts.idle = nil }
            #expect(first.error == nil)
            let second = try await transport.run(.get, server.url()) {
                $0.timeouts.idle = .milliseconds(50)
            }
            #expect(second.error?.timeout == .idle)
        }
    }

    @Test func concurrentCallersGetExactlyOneEnd() async throws {
        let server = try Self.responding()
        let transport = CurlTransport()
        let url = server.url()
        let bad = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var bad = 0
                    for count in 0..<100 {
                        let recorder = RecordingReceiver()
                        let request = TransportRequest(url: try HTTPURL.test(url))
                        let transfer = transport.start(request, receiver: recorder)
                        if (worker + count).isMultiple(of: 7) { transfer.cancel() }
                        let record = try await recorder.ended()
                        let isRight = record.error == nil || record.error?.isCancellation == true
                        if record.ends != 1 || !isRight { bad += 1 }
                    }
                    return bad
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(bad == 0)
    }
}
