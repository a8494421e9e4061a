import ErrandCore
import ErrandCurl
import Foundation
import Testing

/// Requests that go out from the thread that starts them, while the loop's own sleeps.
@Suite(.timeLimit(.minutes(5)))
struct LentTurnTests {
    private static func answering() throws -> RawServer {
        try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
    }

    @Test func aKnownOriginNeedsNoThread() async throws {
        let server = try Self.answering()
        let transport = CurlTransport()
        // Whether the loop has fallen asleep by the time of the next start is not ours to say; some time it has.
        while transport.lentTurns == 0 {
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil && record.body == Data("hi".utf8))
            #expect(record.violations.isEmpty && record.ends.count == 1)
        }
        #expect(server.connections == 1)
    }

    /// What the loop's thread has found before somebody else's turn is old news after it.
    ///
    /// An answer that was read in that turn is nothing that an idle connection says by itself. Shows where other tests
    /// keep the processors busy.
    @Test func aTurnServesWhatTheThreadHasFound() async throws {
        let server = try Self.answering()
        let transport = CurlTransport()
        for _ in 0..<1000 {
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil)
        }
        #expect(server.connections == 1)
    }

    @Test func anUnknownOriginDoes() async throws {
        let transport = CurlTransport()
        for _ in 0..<20 {
            let server = try Self.answering()
            let record = try await transport.run(.get, server.url())
            #expect(record.error == nil)
        }
        #expect(transport.lentTurns == 0)
    }

    @Test func uploadsDo() async throws {
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
        #expect(transport.lentTurns == 0)
    }

    @Test func limitsHoldForThem() async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            // And then nothing, for whoever asks again.
            _ = connection.readHead()
            _ = connection.readHead()
        }
        // The loop means to sleep for as long as nothing happens: whoever has its turn has to tell it of the limit.
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

    @Test func manyThreadsAtOnceLoseNothing() async throws {
        let server = try Self.answering()
        let transport = CurlTransport()
        let url = server.url()
        let bad = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var bad = 0
                    for count in 0..<100 {
                        let recorder = Recorder()
                        let request = TransportRequest(url: try URI.test(url))
                        let transfer = transport.start(request, receiver: recorder)
                        if (worker + count).isMultiple(of: 7) { transfer.cancel() }
                        let record = await recorder.end()
                        let isRight = record.error == nil || record.error?.isCancellation == true
                        if record.ends.count != 1 || !isRight { bad += 1 }
                    }
                    return bad
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(bad == 0)
    }
}
