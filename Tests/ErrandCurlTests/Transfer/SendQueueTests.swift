import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandCurl

/// Acknowledged bytes are activity for the idle limit.
@Suite(.limited)
struct SendQueueTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func later(_ milliseconds: Int) -> MonotonicTime {
        Self.start.advanced(milliseconds: milliseconds)
    }

    private func queue(_ acknowledged: UInt64, _ waiting: UInt64, _ silence: Int? = nil)
        -> SendQueue
    {
        SendQueue(
            acknowledged: acknowledged, waiting: waiting,
            silence: silence.map { .milliseconds($0) })
    }

    @Test func bytesOfTheTransferCountUntilTheyAreAcknowledged() {
        var watch = AcknowledgementWatch()
        #expect(!watch.isPending)
        #expect(watch.observe(queue(10, 5, 0), at: later(0)) == nil)
        watch.sent()
        #expect(watch.isPending)
        // Up to position 150. Bytes may have been acknowledged until 7 ms ago.
        #expect(watch.observe(queue(100, 50, 7), at: later(100)) == later(93))
        // Nothing more; the acknowledgement was one of a probe.
        #expect(watch.observe(queue(100, 50, 1), at: later(200)) == nil)
        // Other transfers have sent 1,000 bytes meanwhile.
        #expect(watch.observe(queue(120, 1030, 2), at: later(300)) == later(298))
        #expect(watch.observe(queue(150, 1000, 3), at: later(400)) == later(397))
        // The rest belongs to the others.
        #expect(!watch.isPending)
        #expect(watch.observe(queue(1150, 0, 0), at: later(500)) == nil)
        watch.sent()
        #expect(watch.observe(queue(1150, 0, 20), at: later(600)) == later(580))
        #expect(!watch.isPending)
    }

    @Test func withoutTimesOnlyProgressCounts() {
        var watch = AcknowledgementWatch()
        watch.sent()
        #expect(watch.observe(queue(900, 100), at: later(0)) == nil)
        #expect(watch.observe(queue(900, 100), at: later(10)) == nil)
        #expect(watch.observe(queue(950, 50), at: later(20)) == later(20))
        #expect(watch.observe(queue(1000, 0), at: later(30)) == later(30))
        #expect(!watch.isPending)
    }

    @Test func silenceLongerThanTheClockDoesNotTrap() {
        var watch = AcknowledgementWatch()
        watch.sent()
        let found = watch.observe(
            SendQueue(acknowledged: .max, waiting: .max, silence: .seconds(Int64.max)),
            at: MonotonicTime(nanoseconds: 5))
        #expect(found == MonotonicTime(nanoseconds: 0))
    }

    /// A peer that acknowledges a part now and then never exceeds the limit; one that stops exceeds it
    /// a limit after its last acknowledgement.
    @Test func steadyUploadNeverExceedsTheIdleLimit() {
        var deadlines = Deadlines(
            Timeouts(connect: nil, idle: .milliseconds(100)), startingAt: later(0))
        #expect(deadlines.first == later(100))
        deadlines.sent(at: later(0))
        #expect(deadlines.first == later(25))
        var now = 0
        var acknowledged: UInt64 = 0
        for _ in 0..<100 {
            now += 25
            acknowledged += 1
            let result = deadlines.check(at: later(now)) {
                queue(acknowledged, 1000 - acknowledged, 5)
            }
            #expect(result == .next(later(now + 25)))
        }
        // The last acknowledgement was 5 ms before the last look.
        for step in 1...3 {
            let result = deadlines.check(at: later(now + 25 * step)) {
                queue(acknowledged, 900, 0)
            }
            #expect(result == .next(step < 3 ? later(now + 25 * step + 25) : later(now + 95)))
        }
        #expect(
            deadlines.check(at: later(now + 95)) { queue(acknowledged, 900, 0) } == .expired(.idle))
    }

    @Test func acknowledgementBeforeTheFirstLookCounts() {
        var deadlines = Deadlines(
            Timeouts(connect: nil, idle: .milliseconds(100)), startingAt: later(0))
        deadlines.sent(at: later(10))
        // Late, as if the thread had no processor: the look comes before the decision.
        #expect(deadlines.check(at: later(120)) { queue(50, 0, 30) } == .next(later(145)))
        // Everything is acknowledged, so the queue does not matter any more.
        #expect(deadlines.check(at: later(190)) { queue(70, 0, 0) } == .expired(.idle))
    }

    @Test func pausesAndOtherTransfersNeedNoLook() {
        var looks = 0
        func look() -> SendQueue? {
            looks += 1
            return nil
        }
        var deadlines = Deadlines(
            Timeouts(connect: .milliseconds(50), idle: .milliseconds(100)), startingAt: later(0))
        #expect(deadlines.check(at: later(40), queue: look) == .next(later(50)))
        deadlines.connected(at: later(40))
        deadlines.active(at: later(41))
        #expect(deadlines.check(at: later(100), queue: look) == .next(later(141)))
        deadlines.suspend()
        #expect(deadlines.check(at: later(1000), queue: look) == .next(.never))
        #expect(looks == 0)
        deadlines.resume(at: later(1000))
        deadlines.sent(at: later(1000))
        #expect(deadlines.check(at: later(1010), queue: look) == .next(later(1025)))
        #expect(looks == 0)
        // A connection without a known queue.
        #expect(deadlines.check(at: later(1025), queue: look) == .next(later(1050)))
        #expect(looks == 1)
        #expect(deadlines.check(at: later(1100), queue: look) == .expired(.idle))
    }
}
