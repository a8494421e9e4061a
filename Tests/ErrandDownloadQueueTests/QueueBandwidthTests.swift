import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandDownloadQueue

/// The bandwidth of all downloads together.
@Suite(.timeLimit(.minutes(5))) struct QueueBandwidthTests {
    private typealias Schedule = QueueBandwidth.Schedule

    /// Any chunks and any delays of the network: the rate differs from the limit by less than 5 percent.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func rateIsThatOfTheLimit(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = Int64.random(in: 10_000...100_000_000, using: &random)
        var schedule = Schedule(bytesPerSecond: limit)
        var (now, bytes) = (Duration.zero, Int64(0))
        while now < .seconds(60) {
            let chunk = Int64.random(in: 1...max(2, limit), using: &random)
            schedule.received(chunk, at: now)
            bytes += chunk
            // The next bytes arrive some time after the downloads were resumed.
            now += schedule.delay(at: now) + .milliseconds(Int.random(in: 0...50, using: &random))
        }
        let expected = Double(limit) * (now / .seconds(1))
        // Chunks of less than an eighth of the limit can arrive slower than it allows.
        #expect(Double(bytes) <= expected * 1.05, "seed \(seed)")
        #expect(Double(bytes) >= expected * 0.95, "seed \(seed)")
    }

    @Test func unusedTimeIsNotSaved() {
        var schedule = Schedule(bytesPerSecond: 1000)
        schedule.received(1000, at: .zero)
        #expect(schedule.delay(at: .zero) == .seconds(1))
        schedule.received(1000, at: .seconds(100))
        #expect(schedule.delay(at: .seconds(100)) == .milliseconds(900))
    }

    @Test func noLimitMeansNoDelay() {
        var schedule = Schedule(bytesPerSecond: nil)
        schedule.received(.max, at: .zero)
        #expect(schedule.delay(at: .zero) == .zero)
        schedule.bytesPerSecond = 10
        #expect(schedule.delay(at: .zero) == .zero)
    }

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
