import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

@Suite(.limited) struct ProgressHubTests {
    private func progress(_ received: Int64, of total: Int64? = nil) -> TransferProgress {
        var progress = TransferProgress()
        progress.bytesReceived = received
        progress.totalBytesToReceive = total
        return progress
    }

    @Test func throttleEmitsByTimeOrByBytes() {
        var throttle = ProgressThrottle(every: .milliseconds(100), bytes: 50)
        let emitted = [(0, 0), (10, 50), (20, 99), (30, 100), (40, 120), (90, 130), (5, 131)].map {
            throttle.offer(progress(Int64($0.0)), now: .milliseconds($0.1))
        }
        #expect(emitted == [true, false, false, true, false, true, true])
        #expect(!throttle.hasNotDelivered(progress(5)) && throttle.hasNotDelivered(progress(6)))
        let isRepeated = throttle.offer(progress(5), now: .seconds(1))
        #expect(!isRepeated)
    }

    @Test func equalValueIsNotDeliveredAgain() {
        let values = Mutex<[Int64]>([])
        let hub = ProgressHub()
        hub.listen { progress in values.withLock { $0.append(progress.bytesReceived) } }
        for bytes in [1, 1, 2, 2, 1] as [Int64] { hub.update { $0.bytesReceived = bytes } }
        let hasDelivered = hub.finish()
        #expect(values.withLock { $0 } == [1, 2, 1])
        #expect(hasDelivered)
    }

    /// A first value without bytes does not delay the first one with bytes.
    @Test func handlerCalledAtOnceBeginsWithTheCurrentValue() {
        let values = Mutex<[Int64]>([])
        let hub = ProgressHub()
        hub.listen(every: .seconds(3600), callsAtOnce: true) { progress in
            values.withLock { $0.append(progress.bytesReceived) }
        }
        #expect(values.withLock { $0 } == [0])
        hub.update { $0.bytesReceived = 1 }
        #expect(values.withLock { $0 } == [0, 1])
        hub.listen(every: .seconds(3600), callsAtOnce: true) { progress in
            values.withLock { $0.append(-progress.bytesReceived) }
        }
        #expect(values.withLock { $0 } == [0, 1, -1])
        hub.update { $0.bytesReceived = 2 }
        #expect(values.withLock { $0 } == [0, 1, -1])
        hub.finish()
        #expect(values.withLock { $0.sorted() } == [-2, -1, 0, 1, 2])
    }

    @Test func throttledHandlerReceivesTheLastValueBeforeTheEnd() {
        let values = Mutex<[Int64]>([])
        let hub = ProgressHub()
        hub.listen(every: .seconds(3600)) { progress in
            values.withLock { $0.append(progress.bytesReceived) }
        }
        for bytes in 1...100 { hub.update { $0.bytesReceived = Int64(bytes) } }
        #expect(values.withLock { $0 } == [1])
        hub.finish(isWhole: true)
        #expect(values.withLock { $0 } == [1, 100])
        #expect(hub.current.totalBytesToReceive == 100 && hub.current.fractionCompleted == 1)
        hub.finish()
        hub.listen { progress in values.withLock { $0.append(-progress.bytesReceived) } }
        #expect(values.withLock { $0 } == [1, 100, -100])
    }

    @Test func handlerOfARunningTransferBeginsWithTheCurrentValue() async {
        let hub = ProgressHub()
        let (values, value) = AsyncStream.makeStream(of: Int64.self)
        let note = { @Sendable (progress: TransferProgress) -> Void in
            value.yield(progress.bytesReceived + progress.bytesSent)
        }
        // Nothing was transferred yet, so that its first value is 7.
        hub.listen(every: .seconds(3600), note)
        hub.update { $0.bytesSent = 7 }
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() == 7)
        hub.listen(every: .seconds(3600), note)
        #expect(await iterator.next() == 7)
        // The first value counts for the interval, too.
        hub.update { $0.bytesReceived = 1 }
        hub.finish()
        #expect(await iterator.next() == 8)
        #expect(await iterator.next() == 8)
        await hub.untilDelivered()
        value.finish()
        #expect(await iterator.next() == nil)
    }

    /// A caller may hold a lock that the handler needs, and must not deliver the values of a transfer until its end.
    @Test func handlerIsNotCalledInsideListen() async {
        let hub = ProgressHub()
        hub.update { $0.bytesReceived = 1 }
        let proceed = DispatchSemaphore(value: 0)
        let isInTime = Mutex(false)
        hub.listen { _ in
            let result = proceed.wait(timeout: .now() + 60)
            isInTime.withLock { $0 = result == .success }
        }
        proceed.signal()
        hub.finish()
        await hub.untilDelivered()
        #expect(isInTime.withLock { $0 })
    }

    /// The bodies of several requests are one upload; the bytes of earlier runs have no part in the rate.
    @Test func bodiesOfSeveralRequestsAreOneUpload() {
        let clock = ManualClock()
        let hub = ProgressHub(clock: clock)
        hub.listen { _ in }
        hub.continueUpload(at: 6000, of: 10_000)
        #expect(hub.current.bytesSent == 6000 && hub.current.totalBytesToSend == 10_000)
        for offset: Int64 in [6000, 7000] {
            hub.continueUpload(at: offset, of: 10_000)
            hub.update { ($0.bytesSent, $0.totalBytesToSend) = (0, 1000) }
            clock.advance(by: .seconds(2))
            hub.update { $0.bytesSent = 1000 }
            #expect(hub.current.bytesSent == offset + 1000)
            #expect(hub.current.totalBytesToSend == 10_000)
            #expect(hub.current.bytesSentPerSecond == 500)
        }
        // The server has fewer bytes than were sent.
        hub.continueUpload(at: 7500, of: 10_000)
        #expect(hub.current.bytesSent == 7500 && hub.current.bytesSentPerSecond == 500)
        hub.finish(isWhole: true)
        #expect(hub.current.totalBytesToSend == 10_000)
    }

    @Test func throttledStreamEndsWithTheLastValue() async {
        let hub = ProgressHub()
        var stream = hub.subscribe(every: .seconds(3600)).makeAsyncIterator()
        #expect(await stream.next()?.bytesReceived == 0)
        for bytes in 1...100 { hub.update { $0.bytesReceived = Int64(bytes) } }
        hub.finish()
        #expect(await stream.next()?.bytesReceived == 100)
        #expect(await stream.next() == nil)
    }

    @Test func handlersReceiveValuesSeriallyAndInOrder() async {
        let hub = ProgressHub()
        let state = Mutex((last: Int64(-1), isInside: false, violations: 0))
        hub.listen { progress in
            state.withLock { state in
                if state.isInside || progress.bytesReceived < state.last { state.violations += 1 }
                state.isInside = true
                state.last = progress.bytesReceived
            }
            state.withLock { $0.isInside = false }
        }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<5000 { hub.update { $0.bytesReceived += 1 } }
                }
            }
        }
        hub.finish()
        #expect(state.withLock { $0.last } == 20_000 && state.withLock { $0.violations } == 0)
    }

    @Test func busyHandlerReceivesTheLastValueBeforeTheEnd() async {
        let leader = ProgressHub()
        let hub = ProgressHub()
        let values = Mutex<[Int64]>([])
        let proceed = DispatchSemaphore(value: 0)
        leader.mirror(into: hub, id: 1)
        await withCheckedContinuation { entered in
            hub.listen { progress in
                if progress.bytesReceived == 1 {
                    entered.resume()
                    proceed.wait()
                }
                values.withLock { $0.append(progress.bytesReceived) }
            }
            // Another thread, as that of a transfer, is inside the handler.
            DispatchQueue.global().async { leader.update { $0.bytesReceived = 1 } }
        }
        leader.update { $0.bytesReceived = 2 }
        #expect(!hub.finish(isWhole: true))
        // No value follows the last one.
        leader.update { $0.bytesReceived = 3 }
        hub.update { $0.bytesSent = 4 }
        #expect(values.withLock { $0 } == [])
        async let delivered: Void = hub.untilDelivered()
        proceed.signal()
        await delivered
        #expect(values.withLock { $0 } == [1, 2])
        await hub.untilDelivered()
        #expect(hub.finish())
    }

    @Test func handlerMayFinishItsHub() async {
        let hub = ProgressHub()
        let values = Mutex<[Int64]>([])
        hub.listen(every: .seconds(3600)) { progress in
            values.withLock { $0.append(progress.bytesReceived) }
            guard progress.bytesReceived == 1 else { return }
            hub.update { $0.bytesReceived = 2 }
            #expect(!hub.finish())
        }
        hub.update { $0.bytesReceived = 1 }
        await hub.untilDelivered()
        #expect(values.withLock { $0 } == [1, 2])
    }

    @Test func handlerMayReadItsHub() {
        let hub = ProgressHub()
        let follower = ProgressHub()
        let seen = Mutex<[Int64]>([])
        hub.mirror(into: follower, id: 1)
        // The hub holds its handlers: strong references from them to the hub would be a cycle.
        follower.listen { [weak hub, weak follower] _ in
            guard let hub, let follower else { return }
            let both = follower.current.bytesReceived * 100 + hub.current.bytesReceived
            seen.withLock { $0.append(both) }
        }
        hub.update { $0.bytesReceived = 3 }
        hub.endMirror(1)
        hub.update { $0.bytesReceived = 4 }
        #expect(seen.withLock { $0 } == [303])
    }

    /// The release of a captured object may call the hub, which would deadlock under the lock.
    @Test(arguments: [false, true])
    func capturesOfHandlersAreReleasedOutsideTheLock(hasReceivedAll: Bool) {
        final class Owner: Sendable {
            let hub: ProgressHub
            init(_ hub: ProgressHub) { self.hub = hub }
            deinit { _ = hub.current }
        }
        let hub = ProgressHub()
        func listen() {
            let owner = Owner(hub)
            hub.listen { _ in _ = owner }
        }
        listen()
        if hasReceivedAll { hub.update { $0.bytesReceived = 1 } }
        #expect(hub.finish())
    }

    // MARK: - Values that are held back

    /// 9 of 10 KB arrive within the interval, and nothing follows: the value is delivered when the interval is over.
    @Test func valueThatIsHeldBackIsDeliveredAfterTheInterval() async throws {
        let clock = ManualClock()
        let hub = ProgressHub(clock: clock)
        let (values, continuation) = AsyncStream.makeStream(of: Int64.self)
        var received = values.makeAsyncIterator()
        hub.listen(every: .milliseconds(100)) { continuation.yield($0.bytesReceived) }
        hub.update { $0.bytesReceived = 1 }
        #expect(await received.next() == 1)
        #expect(clock.sleepers == 0)
        clock.advance(by: .milliseconds(30))
        for bytes in [2, 3, 9] as [Int64] { hub.update { $0.bytesReceived = bytes } }
        // One timer for all of them, and for all handlers.
        try await clock.untilSleeping()
        #expect(clock.sleepers == 1)
        clock.advance(by: .milliseconds(69))
        #expect(clock.sleepers == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await received.next() == 9)
        #expect(clock.sleepers == 0)
        // Nothing is held back: no timer, and no call without a change.
        clock.advance(by: .seconds(10))
        hub.update { $0.bytesReceived = 10 }
        #expect(await received.next() == 10)
        #expect(clock.sleepers == 0)
        hub.finish()
        continuation.finish()
        #expect(await received.next() == nil)
    }

    @Test func endCancelsTheTimerAndDeliversTheLastValueOnce() async throws {
        let clock = ManualClock()
        let hub = ProgressHub(clock: clock)
        let values = Mutex<[Int64]>([])
        hub.listen(every: .milliseconds(100)) { progress in
            values.withLock { $0.append(progress.bytesReceived) }
        }
        hub.update { $0.bytesReceived = 1 }
        hub.update { $0.bytesReceived = 2 }
        try await clock.untilSleeping()
        hub.finish()
        #expect(clock.sleepers == 0)
        clock.advance(by: .seconds(1))
        #expect(values.withLock { $0 } == [1, 2])
    }

    @Test func streamAndMirrorReceiveValuesThatAreHeldBack() async throws {
        let clock = ManualClock()
        let (hub, mirror) = (ProgressHub(clock: clock), ProgressHub(clock: clock))
        hub.mirror(into: mirror, id: 1)
        var own = hub.subscribe(every: .milliseconds(100)).makeAsyncIterator()
        var mirrored = mirror.subscribe(every: .milliseconds(300)).makeAsyncIterator()
        #expect(await own.next()?.bytesReceived == 0)
        #expect(await mirrored.next()?.bytesReceived == 0)
        hub.update { $0.bytesReceived = 7 }
        try await clock.untilSleeping(2)
        clock.advance(by: .milliseconds(100))
        #expect(await own.next()?.bytesReceived == 7)
        clock.advance(by: .milliseconds(200))
        #expect(await mirrored.next()?.bytesReceived == 7)
        #expect(clock.sleepers == 0)
    }

    /// An interval without an end makes no timer that overflows.
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(3600)])
    func longIntervalHoldsValuesBackUntilTheEnd(interval: Duration) {
        let clock = ManualClock()
        let hub = ProgressHub(clock: clock)
        let values = Mutex<[Int64]>([])
        hub.listen(every: interval) { progress in
            values.withLock { $0.append(progress.bytesReceived) }
        }
        for bytes in 1...9 as ClosedRange<Int64> { hub.update { $0.bytesReceived = bytes } }
        #expect(values.withLock { $0 } == [1])
        hub.finish()
        #expect(values.withLock { $0 } == [1, 9])
    }
}
