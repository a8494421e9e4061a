import Dispatch
import ErrandCore
import ErrandTesting
import ErrandTransport
import ErrandURLSession
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// FoundationNetworking uses one queue per process: a blocked callback blocks all sessions.
@Suite("Blocked session queue", .limited)
struct BlockedSessionQueueTests {
    /// Blocks the session's queue in `didReceive(head:)` until `resume` is signalled.
    private final class BlockingReceiver: TransferReceiver, Sendable {
        let entered = AsyncStream.makeStream(of: Void.self)
        let resume = DispatchSemaphore(value: 0)

        func didReceive(head: ResponseHead) {
            entered.continuation.yield()
            // Gives up after 30 seconds; the test has failed then.
            _ = resume.wait(timeout: .now() + 30)
        }

        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { .more }
        func didEnd(_ end: TransferEnd) { entered.continuation.finish() }
    }

    @Test func timeoutsAndCancellationWorkWhileTheQueueIsBlocked() async throws {
        // A blocked queue would also block other tests of this process.
        await #expect(processExitsWith: .success) {
            let server = LoopbackServer()
            server.route("/a", responses: LoopbackResponse(body: "hello"))
            try await server.start()
            let transport = URLSessionTransport(configuration: .ephemeral)
            func request() throws -> TransportRequest {
                TransportRequest(url: try HTTPURL(parsing: server.url("/a")))
            }
            let blocking = BlockingReceiver()
            _ = transport.start(try request(), receiver: blocking)
            for await _ in blocking.entered.stream { break }
            // The first of these also blocks the transport's own queue.
            var limited = try request()
            limited.timeouts = Timeouts(connect: nil, idle: .milliseconds(100))
            let receivers = (0..<3).map { _ in RecordingReceiver() }
            for receiver in receivers.dropLast() {
                _ = transport.start(limited, receiver: receiver)
            }
            transport.start(try request(), receiver: receivers[2]).cancel()
            for (receiver, code) in zip(
                receivers, [.timedOut, .timedOut, .cancelled] as [RequestError.Code])
            {
                let record = try await receiver.ended()
                if record.end?.error?.code != code { exit(3) }
            }
            blocking.resume.signal()
        }
    }
}
