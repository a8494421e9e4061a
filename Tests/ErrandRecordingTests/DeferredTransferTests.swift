import ErrandCore
import ErrandTransport
import Synchronization
import TestSupport
import Testing

@testable import ErrandTesting

/// The transfer of a request whose body is read before it begins.
@Suite(.limited) struct DeferredTransferTests {
    /// A transfer that records its calls.
    private final class Begun: Transfer {
        private let calls = Mutex<[String]>([])
        var names: [String] { calls.withLock { $0 } }
        func cancel() { calls.withLock { $0.append("cancel") } }
        func resumeReceiving() { calls.withLock { $0.append("resume") } }
    }

    private let receiver = RecordingReceiver()

    @Test func cancellationBeforeTheBeginningEndsItOnceAndStartsNothing() async throws {
        let transfer = DeferredTransfer(receiver)
        let cancelled = Mutex(0)
        transfer.onCancel { cancelled.withLock { $0 += 1 } }
        transfer.cancel()
        transfer.cancel()
        transfer.begin { receiver in
            receiver.didEnd(TransferEnd())
            Issue.record("a cancelled transfer was started")
            return Begun()
        }
        let record = try await receiver.ended()
        #expect(record.ends == 1 && record.end?.error?.code == .cancelled)
        #expect(cancelled.withLock { $0 } == 1)
    }

    @Test func begunTransferGetsTheCalls() {
        let transfer = DeferredTransfer(receiver)
        let begun = Begun()
        transfer.resumeReceiving()
        transfer.begin { _ in begun }
        transfer.begin { _ in
            Issue.record("a transfer was started twice")
            return Begun()
        }
        transfer.resumeReceiving()
        transfer.cancel()
        #expect(begun.names == ["resume", "cancel"])
        #expect(receiver.record.ends == 0, "the begun transfer reports the end")
    }

    @Test func closureIsCalledAtOnceAfterACancellation() {
        let transfer = DeferredTransfer(receiver)
        transfer.cancel()
        let cancelled = Mutex(0)
        transfer.onCancel { cancelled.withLock { $0 += 1 } }
        #expect(cancelled.withLock { $0 } == 1)
    }
}
