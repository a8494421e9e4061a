import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandDownloadQueue

/// The bandwidth of all downloads together.
@Suite(.timeLimit(.minutes(15))) struct QueueBandwidthTests {
    @Test func downloadsAreHeldUntilTheBytesArePaid() async throws {
        let clock = ManualClock()
        let calls = Mutex<[Bool]>([])
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let limit = QueueBandwidth(bytesPerSecond: 1000, clock: clock) { isHeld in
            calls.withLock { $0.append(isHeld) }
            if !isHeld { release.yield() }
        }
        limit.received(2000)
        #expect(limit.isHolding)
        try await clock.untilSleeping()
        limit.received(1000)
        clock.advance(by: .seconds(2))
        // The second bytes are paid after the first.
        try await clock.untilSleeping()
        #expect(calls.withLock { $0 } == [true])
        clock.advance(by: .seconds(1))
        var releases = released.makeAsyncIterator()
        await releases.next()
        #expect(calls.withLock { $0 } == [true, false] && !limit.isHolding)
    }

    /// The latest decision takes effect last, although it is made before the earlier call has returned.
    @Test func bytesThatArriveDuringTheReleaseAreHeld() async throws {
        let clock = ManualClock()
        let (calls, call) = AsyncStream.makeStream(of: Bool.self)
        let receiver = Mutex<QueueBandwidth?>(nil)
        let limit = QueueBandwidth(bytesPerSecond: 1000, clock: clock) { isHeld in
            // In the first release only.
            if !isHeld { receiver.withLock { $0.take() }?.received(1000) }
            call.yield(isHeld)
        }
        receiver.withLock { $0 = limit }
        var results = calls.makeAsyncIterator()
        limit.received(2000)
        let held = await results.next()
        #expect(held == true)
        try await clock.untilSleeping()
        clock.advance(by: .seconds(2))
        let released = await results.next()
        let heldAgain = await results.next()
        #expect(released == false && heldAgain == true && limit.isHolding)
        try await clock.untilSleeping()
        clock.advance(by: .seconds(1))
        let releasedAgain = await results.next()
        #expect(releasedAgain == false && !limit.isHolding)
    }

    /// A limit that holds the downloads for a long time, and a value for each release.
    private func holdingLimit(
        on clock: ManualClock
    ) async throws -> (limit: QueueBandwidth, released: AsyncStream<Void>) {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let limit = QueueBandwidth(bytesPerSecond: 1, clock: clock) { isHeld in
            if !isHeld { release.yield() }
        }
        limit.received(1_000_000)
        try await clock.untilSleeping()
        return (limit, released)
    }

    /// Otherwise the delay would keep the clock until its end.
    @Test func stopEndsTheDelay() async throws {
        let clock = ManualClock()
        let (limit, released) = try await holdingLimit(on: clock)
        limit.stop()
        var releases = released.makeAsyncIterator()
        await releases.next()
        #expect(!limit.isHolding && clock.sleepers == 0)
    }

    @Test func changeOfTheLimitEndsTheDelay() async throws {
        let clock = ManualClock()
        let (limit, released) = try await holdingLimit(on: clock)
        limit.set(bytesPerSecond: nil)
        var releases = released.makeAsyncIterator()
        await releases.next()
        #expect(!limit.isHolding)
    }
}
