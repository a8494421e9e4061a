import ErrandTransport
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// The demand for chunks, and the resumption of a transfer that waits.
@Suite(.limited) final class SuspensionPointTests {
    private final class CountingTransfer: Transfer {
        private let count = Mutex(0)
        var resumptions: Int { count.withLock { $0 } }
        func cancel() {}
        func resumeReceiving() { count.withLock { $0 += 1 } }
    }

    private let point = SuspensionPoint()
    private let transfer = CountingTransfer()

    @Test func demandIsPauseWhileSuspended() {
        point.attach(transfer)
        #expect(point.demand() == .more)
        #expect(point.pause() && point.isPaused)
        #expect(point.demand() == .pause)
        #expect(point.open() && !point.isPaused)
        #expect(point.demand() == .more)
    }

    @Test func transferThatWaitsIsResumedOnce() {
        point.attach(transfer)
        point.pause()
        _ = point.demand()
        #expect(transfer.resumptions == 0)
        point.open()
        point.open()
        #expect(transfer.resumptions == 1)
        point.pause()
        point.open()
        // It did not wait this time: no chunk got `.pause`.
        #expect(transfer.resumptions == 1)
    }

    @Test func transferThatNeverGotPauseIsNotResumed() {
        point.attach(transfer)
        point.pause()
        point.open()
        #expect(transfer.resumptions == 0)
    }

    @Test func eachTransferOfADownloadIsResumed() {
        point.expectSeveralTransfers()
        let other = CountingTransfer()
        point.attach(transfer)
        point.pause()
        _ = point.demand()
        point.attach(other)
        #expect(other.resumptions == 0)
        point.open()
        #expect(transfer.resumptions == 1 && other.resumptions == 1)
        // It got `.pause` before it was attached.
        let late = CountingTransfer()
        point.attach(late)
        #expect(late.resumptions == 1)
    }

    @Test func transferThatWaitsBeforeItIsAttachedIsResumed() {
        point.pause()
        _ = point.demand()
        point.open()
        point.attach(transfer)
        #expect(transfer.resumptions == 1)
    }

    @Test func transferThatIsAttachedWhileSuspendedIsResumedLater() {
        point.pause()
        _ = point.demand()
        point.attach(transfer)
        #expect(transfer.resumptions == 0)
        point.open()
        #expect(transfer.resumptions == 1)
    }

    @Test func detachedTransferIsNotResumed() {
        point.attach(transfer)
        point.pause()
        _ = point.demand()
        point.detach(transfer)
        point.open()
        #expect(transfer.resumptions == 0)
    }

    @Test func theEndOfAnEarlierTransferLeavesTheCurrentOne() {
        let earlier = CountingTransfer()
        point.attach(earlier)
        point.attach(transfer)
        point.pause()
        _ = point.demand()
        point.detach(earlier)
        point.open()
        #expect(transfer.resumptions == 1 && earlier.resumptions == 0)
    }
}
