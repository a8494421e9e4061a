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

    @Test func changeOfTheLimitEndsTheDelay() async throws {
        let clock = ManualClock()
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let limit = QueueBandwidth(bytesPerSecond: 1, clock: clock) { isHeld in
            if !isHeld { release.yield() }
        }
        limit.received(1_000_000)
        try await clock.untilSleeping()
        limit.set(bytesPerSecond: nil)
        var releases = released.makeAsyncIterator()
        await releases.next()
        #expect(!limit.isHolding)
    }
}
