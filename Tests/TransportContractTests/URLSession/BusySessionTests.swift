import Dispatch
import ErrandCore
import ErrandTesting
import ErrandURLSession
import Foundation
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// FoundationNetworking has one queue, and what keeps it busy keeps every session.
@Suite("Busy sessions", .timeLimit(.minutes(2)))
struct BusySessionTests {
    /// Holds the session's queue at the head of an answer until it is told to go on.
    private final class Holder: TransferReceiver, Sendable {
        let entered = AsyncStream.makeStream(of: Void.self)
        let goOn = DispatchSemaphore(value: 0)

        func didReceive(head: ResponseHead) {
            entered.continuation.yield()
            // Who waits for this one gives up here, and the test has failed.
            _ = goOn.wait(timeout: .now() + 30)
        }

        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand { .more }
        func didEnd(_ end: TransferEnd) { entered.continuation.finish() }
    }

    @Test func limitsAndCancelsHoldAllTheSame() async throws {
        // The queue is the process's: others would be kept, too.
        await #expect(processExitsWith: .success) {
            let server = LoopbackServer()
            server.route("/a", answers: LoopbackAnswer(body: "hello"))
            try await server.start()
            let transport = URLSessionTransport(configuration: .ephemeral)
            func request() throws -> TransportRequest {
                TransportRequest(url: try URI(parsing: server.url("/a")))
            }
            let holder = Holder()
            _ = transport.start(try request(), receiver: holder)
            for await _ in holder.entered.stream { break }
            // The first of these keeps the transport's own queue.
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
            holder.goOn.signal()
        }
    }
}
