import ErrandTesting
import ErrandTransport
import Synchronization
import TestSupport
import Testing

@testable import ErrandCurl

/// Requests that are cancelled while they wait for a connection.
@Suite(.limited)
struct CancelledWaitersTests {
    /// Counts the ends of many transfers.
    private final class EndCounter: TransferReceiver {
        private let expected: Int
        private let counts = Mutex((ends: 0, cancelled: 0))
        private let finished = AsyncStream<Void>.makeStream()

        init(_ expected: Int) { self.expected = expected }

        /// Waits for the end of all transfers; returns the number of those that were cancelled.
        func cancelled() async -> Int {
            for await _ in finished.stream {}
            return counts.withLock { $0.cancelled }
        }

        func didReceive(head: ResponseHead) {}
        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { .more }
        func didEnd(_ end: TransferEnd) {
            let isLast = counts.withLock { counts in
                counts.ends += 1
                if end.error?.code == .cancelled { counts.cancelled += 1 }
                return counts.ends == expected
            }
            if isLast { finished.continuation.finish() }
        }
    }

    /// The free connection is offered to each of them in turn, which must not take stack for each.
    @Test func manyCancelledWaitersAreSkipped() async throws {
        let count = 20_000
        let server = try HeldServer()
        let other = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("other") }
        }
        let transport = CurlTransport { $0.connectionsPerHost = 1 }
        let transfers = Mutex<[any Transfer]>([])
        // The body arrives on the loop's thread, which then makes the connection available without
        // reading the messages about the cancellations first.
        let holder = RecordingReceiver { _ in
            for transfer in transfers.withLock({ $0 }) { transfer.cancel() }
            return .more
        }
        var held = TransportRequest(url: try .test(server.url("/held")))
        held.timeouts = Timeouts(connect: nil, idle: nil)
        _ = transport.start(held, receiver: holder)
        try await server.holdsRequest()
        let counter = EndCounter(count)
        var waiting = TransportRequest(url: try .test(server.url("/waiting")))
        waiting.timeouts = Timeouts(connect: nil, idle: nil)
        let started = (0..<count).map { [waiting] _ in transport.start(waiting, receiver: counter) }
        transfers.withLock { $0 = started }
        // The loop reads its messages in order, so all requests wait when this one has ended.
        #expect(try await transport.run(.get, other.url()).text == "other")
        server.respond()
        #expect(try await holder.ended().text == "good")
        #expect(await counter.cancelled() == count)
        let next = try await transport.run(.get, server.url("/next"))
        #expect(next.text == "good", "\(next.errorText)")
        #expect(next.end?.timings.reusedConnection == true && server.connections == 1)
    }
}
