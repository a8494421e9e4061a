import ErrandHTTP
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandTransport

/// A transfer that its receiver and a bandwidth limit pause, in any order of events.
@Suite(.limited) struct LimitedTransferTests {
    /// A transport whose transfers do what the test says.
    private final class SteppedTransport: Transport {
        private let started = Mutex<SteppedTransfer?>(nil)
        let name = "stepped"
        var transfer: SteppedTransfer? { started.withLock { $0 } }

        func check(_ request: TransportRequest) throws(RequestError) {}
        func start(
            _ request: TransportRequest, receiver: any TransferReceiver
        ) -> any Transfer {
            let transfer = SteppedTransfer(receiver)
            started.withLock { $0 = transfer }
            return transfer
        }
        func shutDown() {}
    }

    private final class SteppedTransfer: Transfer {
        struct State {
            var isPaused = false
            var isDelivering = false
            var isResumed = false
            var isCancelled = false
        }
        private let target: Mutex<(any TransferReceiver)?>
        private let state = Mutex(State())

        init(_ receiver: any TransferReceiver) { target = Mutex(receiver) }

        var receiver: any TransferReceiver {
            guard let receiver = target.withLock({ $0 }) else {
                preconditionFailure("The transfer has ended.")
            }
            return receiver
        }

        /// Releases the receiver, which holds this transfer.
        func end() { target.withLock { $0 = nil } }

        var isPaused: Bool { state.withLock { $0.isPaused } }
        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        /// Delivers a byte unless the transfer is paused.
        func deliver() {
            let mayDeliver = state.withLock { state in
                guard !state.isPaused else { return false }
                state.isDelivering = true
                state.isResumed = false
                return true
            }
            guard mayDeliver else { return }
            let demand = [UInt8(1)].withUnsafeBytes { receiver.didReceive(bytes: $0) }
            state.withLock { state in
                state.isDelivering = false
                state.isPaused = demand == .pause && !state.isResumed
            }
        }

        func cancel() { state.withLock { $0.isCancelled = true } }

        func resumeReceiving() {
            state.withLock { state in
                if state.isDelivering { state.isResumed = true } else { state.isPaused = false }
            }
        }
    }

    /// A receiver that pauses when the test says so.
    private final class PausingReceiver: TransferReceiver {
        struct State {
            var pauses = false
            var isPaused = false
            var bytes = 0
            var bytesWhilePaused = 0
            var ends = 0
            var error: RequestError?
            var connections = 0
            /// Resumed within the call that returns `.pause`.
            var resumed: (any Transfer)?
        }
        let state = Mutex(State())

        var waitingTime: Duration? { .seconds(50) }
        func didReceive(head: ResponseHead) {}
        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
            state.withLock { $0.resumed }?.resumeReceiving()
            return state.withLock { state in
                state.bytes += bytes.count
                if state.isPaused { state.bytesWhilePaused += 1 }
                state.isPaused = state.pauses
                return state.pauses ? .pause : .more
            }
        }
        func willSend(over connection: Response.Connection, isReused: Bool) {
            state.withLock { $0.connections += 1 }
        }
        func didEnd(_ end: TransferEnd) {
            state.withLock { ($0.ends, $0.error) = ($0.ends + 1, end.error) }
        }
    }

    private func start(
        _ limit: BandwidthLimit
    ) throws -> (any Transfer, SteppedTransfer, PausingReceiver) {
        let transport = SteppedTransport()
        let receiver = PausingReceiver()
        let transfer = limit.transport(over: transport).start(
            TransportRequest(url: try HTTPURL(parsing: "http://example.com/")), receiver: receiver)
        return (transfer, try #require(transport.transfer), receiver)
    }

    /// A wait that the transfer does not know yet would keep it until the end of its time.
    @Test func transferThatIsCancelledWhileItsBytesAreCountedIsReleased() throws {
        let clock = HookedClock()
        let limit = BandwidthLimit(bytesPerSecond: 1, clock: clock)
        weak var released: AnyObject?
        do {
            let (transfer, inner, receiver) = try start(limit)
            released = transfer
            clock.whenRead { transfer.cancel() }
            inner.deliver()
            #expect(inner.isCancelled)
            inner.receiver.didEnd(TransferEnd(error: .cancelled))
            inner.end()
            #expect(receiver.state.withLock { $0.ends } == 1)
            #expect(receiver.state.withLock { $0.bytes } == 0)
        }
        #expect(released == nil)
    }

    /// Whatever happens: a paused receiver gets nothing, and no pause remains when nothing asks for it.
    @Test func everyOrderOfPausesLosesNothing() throws {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            // One byte needs longer than the test, so only a change of the limit ends a wait.
            let limit = BandwidthLimit(resumingAtOnce: nil)
            let (transfer, inner, receiver) = try start(limit)
            defer { inner.end() }
            for _ in 0..<40 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: limit.bytesPerSecond = 1
                case 1: limit.bytesPerSecond = nil
                case 2:
                    receiver.state.withLock { $0.isPaused = false }
                    transfer.resumeReceiving()
                case 3: receiver.state.withLock { $0.pauses.toggle() }
                default: inner.deliver()
                }
            }
            limit.bytesPerSecond = nil
            receiver.state.withLock { state in
                state.isPaused = false
                state.pauses = false
            }
            transfer.resumeReceiving()
            #expect(!inner.isPaused, "seed \(seed)")
            let before = receiver.state.withLock { $0.bytes }
            inner.deliver()
            inner.deliver()
            #expect(receiver.state.withLock { $0.bytes } == before + 2, "seed \(seed)")
            #expect(receiver.state.withLock { $0.bytesWhilePaused } == 0, "seed \(seed)")
            inner.receiver.didEnd(TransferEnd())
            #expect(receiver.state.withLock { $0.ends } == 1)
        }
    }

    @Test func limitPausesUntilItIsChanged() throws {
        let limit = BandwidthLimit(resumingAtOnce: 1)
        let (transfer, inner, receiver) = try start(limit)
        defer { inner.end() }
        inner.deliver()
        // The next bytes may arrive while the first ones wait.
        #expect(!inner.isPaused)
        inner.deliver()
        #expect(inner.isPaused && receiver.waitingTime == .seconds(50))
        #expect(receiver.state.withLock { $0.bytes } == 0)
        // The idle timeout does not count while the transfer waits for the limit.
        #expect(inner.receiver.waitingTime == nil)
        // A receiver that did not pause cannot end the wait.
        transfer.resumeReceiving()
        #expect(inner.isPaused)
        limit.bytesPerSecond = 2
        #expect(!inner.isPaused && receiver.state.withLock { $0.bytes } == 2)
        // It counts from the end of the wait.
        #expect(try #require(inner.receiver.waitingTime) < .seconds(50))
        transfer.cancel()
        #expect(inner.isCancelled)
    }

    @Test func endOfTheWaitDoesNotEndThePauseOfTheReceiver() throws {
        let limit = BandwidthLimit(resumingAtOnce: 1)
        let (transfer, inner, receiver) = try start(limit)
        defer { inner.end() }
        receiver.state.withLock { $0.pauses = true }
        inner.deliver()
        inner.deliver()
        limit.bytesPerSecond = nil
        #expect(inner.isPaused && receiver.state.withLock { $0.bytes } == 1)
        receiver.state.withLock { ($0.isPaused, $0.pauses) = (false, false) }
        transfer.resumeReceiving()
        #expect(!inner.isPaused && receiver.state.withLock { $0.bytes } == 2)
    }

    @Test func receiverDoesNotEndTheWait() throws {
        let limit = BandwidthLimit(resumingAtOnce: 1)
        let (transfer, inner, _) = try start(limit)
        defer { inner.end() }
        inner.deliver()
        inner.deliver()
        transfer.resumeReceiving()
        #expect(inner.isPaused)
        limit.bytesPerSecond = nil
        #expect(!inner.isPaused)
    }

    @Test func resumptionWithinThePausingCallTakesEffect() throws {
        let (transfer, inner, receiver) = try start(BandwidthLimit(resumingAtOnce: nil))
        defer { inner.end() }
        receiver.state.withLock { state in
            state.pauses = true
            state.resumed = transfer
        }
        inner.deliver()
        #expect(!inner.isPaused)
        receiver.state.withLock { $0.resumed = nil }
    }

    @Test func connectionsAreReported() throws {
        let (_, inner, receiver) = try start(BandwidthLimit(resumingAtOnce: 1))
        defer { inner.end() }
        inner.receiver.willSend(
            over: Response.Connection(host: "example.com", port: 80, isSecure: false),
            isReused: false)
        #expect(receiver.state.withLock { $0.connections } == 1)
    }

    @Test func endedTransferIsReleased() throws {
        weak var released: LimitedTransfer?
        let limit = BandwidthLimit(resumingAtOnce: 1)
        do {
            let (transfer, inner, _) = try start(limit)
            released = transfer as? LimitedTransfer
            inner.deliver()
            inner.receiver.didEnd(TransferEnd())
            #expect(released != nil)
            limit.bytesPerSecond = nil
        }
        #expect(released == nil)
    }

    /// A thread that changes the limit, such as the main thread, does not call receivers.
    @Test func changeOfTheLimitDoesNotCallTheReceiver() async throws {
        let limit = BandwidthLimit(bytesPerSecond: 1)
        let (transfer, inner, receiver) = try start(limit)
        defer { inner.end() }
        inner.deliver()
        // The receiver needs the lock that the caller holds.
        receiver.state.withLock { state in
            limit.bytesPerSecond = nil
            #expect(state.bytes == 0)
        }
        while receiver.state.withLock({ $0.bytes }) == 0 { await Task.yield() }
        withExtendedLifetime(transfer) {}
    }

    /// No byte is passed on before its time, also not the last one, and the end follows it.
    @Test func lastBytesAndTheEndWaitForTheirTime() async throws {
        let clock = ManualClock()
        let limit = BandwidthLimit(bytesPerSecond: 1, clock: clock)
        let (transfer, inner, receiver) = try start(limit)
        defer { inner.end() }
        inner.deliver()
        inner.deliver()
        inner.receiver.didEnd(TransferEnd())
        for second in 1...2 {
            #expect(receiver.state.withLock { $0.bytes } == second - 1)
            #expect(receiver.state.withLock { $0.ends } == 0)
            try await clock.untilSleeping()
            clock.advance(by: .seconds(1))
            while receiver.state.withLock({ $0.bytes }) < second { await Task.yield() }
        }
        while receiver.state.withLock({ $0.ends }) == 0 { await Task.yield() }
        #expect(receiver.state.withLock { $0.ends } == 1)
        withExtendedLifetime(transfer) {}
    }

    /// Many short transfers are together no faster than one long one.
    @Test func shortTransfersShareTheLimit() async throws {
        let clock = ManualClock()
        let limit = BandwidthLimit(bytesPerSecond: 1, clock: clock)
        let transfers = try (0..<5).map { _ in try start(limit) }
        for (_, inner, _) in transfers {
            inner.deliver()
            inner.receiver.didEnd(TransferEnd())
        }
        func ends() -> Int { transfers.reduce(0) { $0 + $1.2.state.withLock { $0.ends } } }
        for second in 1...5 {
            #expect(ends() == second - 1)
            try await clock.untilSleeping()
            clock.advance(by: .seconds(1))
            while ends() < second { await Task.yield() }
        }
        for (_, inner, _) in transfers { inner.end() }
    }

    @Test func cancelledTransferEndsAtOnce() throws {
        let limit = BandwidthLimit(bytesPerSecond: 1, clock: ManualClock())
        let (transfer, inner, receiver) = try start(limit)
        defer { inner.end() }
        inner.deliver()
        inner.receiver.didEnd(TransferEnd())
        #expect(receiver.state.withLock { $0.ends } == 0)
        transfer.cancel()
        #expect(receiver.state.withLock { ($0.ends == 1) && ($0.bytes == 0) })
    }

    @Test(arguments: [0, -1] as [Int64]) func limitsBelowOneAreRefused(limit: Int64) throws {
        for limits in [
            BandwidthLimit(bytesPerSecond: limit),
            BandwidthLimit(bytesPerSecond: nil, uploadBytesPerSecond: limit),
        ] {
            let request = TransportRequest(url: try HTTPURL(parsing: "http://example.com/"))
            let error = #expect(throws: RequestError.self) {
                try limits.transport(over: SteppedTransport()).check(request)
            }
            #expect(error?.code == .invalidConfiguration && error?.stage == .build)
            #expect(error?.message.contains("\(limit)") == true)
        }
        // A change during the transfer ends it.
        let limits = BandwidthLimit(resumingAtOnce: nil)
        let (transfer, inner, receiver) = try start(limits)
        defer { inner.end() }
        limits.bytesPerSecond = limit
        inner.deliver()
        inner.receiver.didEnd(TransferEnd(error: .cancelled))
        #expect(receiver.state.withLock { $0.error }?.code == .invalidConfiguration)
        withExtendedLifetime(transfer) {}
    }
}

extension BandwidthLimit {
    /// A limit of received bytes that resumes transfers in the call that changes it.
    fileprivate convenience init(resumingAtOnce bytesPerSecond: Int64?) {
        let clock = SystemClock()
        self.init(
            receiving: BandwidthLane(
                "bytesPerSecond", bytesPerSecond: bytesPerSecond, clock: clock, perform: { $0() }),
            sending: BandwidthLane("uploadBytesPerSecond", bytesPerSecond: nil, clock: clock))
    }
}
