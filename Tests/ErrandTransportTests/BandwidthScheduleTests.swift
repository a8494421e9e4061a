import TestSupport
import Testing

@testable import ErrandTransport

/// The times at which receivers go on.
@Suite struct BandwidthScheduleTests {
    private func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }

    @Test func withoutALimitNothingWaits() {
        var schedule = BandwidthSchedule(bytesPerSecond: nil)
        #expect(schedule.count(.max, at: .zero) == nil)
        #expect(schedule.delay(at: .zero) == .zero)
        #expect(schedule.reserve(.max, at: .zero) == .zero)
        // The bytes without a limit are not paid for under a later one.
        schedule.change(to: 10)
        #expect(schedule.delay(at: .zero) == .zero)
    }

    /// The sum of the waits does not depend on the sizes of the chunks, nor on waits that end late.
    @Test(arguments: [0, 5, 99])
    func rateIsExact(lateness: Int) {
        var random = SeededGenerator(seed: 7)
        var schedule = BandwidthSchedule(bytesPerSecond: 1_000_000)
        var now = Duration.seconds(50)
        var bytes = 0
        while bytes < 20_000_000 {
            let size = Int.random(in: 1...200_000, using: &random)
            bytes += size
            // Chunks that arrive later than the limit allows are not possible here: the receiver waits.
            if let end = schedule.count(Int64(size), at: now) {
                #expect(end > now)
                now = end + .milliseconds(lateness)
            }
        }
        let expected = Double(bytes) / 1000
        let found = milliseconds(now - .seconds(50))
        // The waits whose lateness exceeds the time of a chunk are made up for up to the credit.
        #expect(found >= expected && found < expected + 100)
    }

    /// Any chunks and any delays of the network: the rate differs from the limit by less than 5 percent.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func rateIsThatOfTheLimit(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = Int64.random(in: 10_000...100_000_000, using: &random)
        var schedule = BandwidthSchedule(bytesPerSecond: limit)
        var (now, bytes) = (Duration.zero, Int64(0))
        while now < .seconds(60) {
            let chunk = Int64.random(in: 1...max(2, limit), using: &random)
            schedule.count(chunk, at: now)
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
        var schedule = BandwidthSchedule(bytesPerSecond: 1000)
        #expect(schedule.count(1000, at: .zero) == .seconds(1))
        #expect(schedule.delay(at: .seconds(0.25)) == .seconds(0.75))
        #expect(schedule.delay(at: .seconds(2)) == .zero)
        // An hour later, all but the credit of 100 ms is waited for.
        let end = schedule.count(1000, at: .seconds(3600))
        #expect(end == .seconds(3600) + .milliseconds(900))
    }

    @Test func limitIsShared() {
        var schedule = BandwidthSchedule(bytesPerSecond: 1000)
        #expect(schedule.count(500, at: .zero) == .milliseconds(500))
        #expect(schedule.count(500, at: .zero) == .seconds(1))
    }

    @Test func changeForgetsEarlierBytes() {
        var schedule = BandwidthSchedule(bytesPerSecond: 1)
        #expect(schedule.count(1000, at: .zero) == .seconds(1000))
        schedule.change(to: 1000)
        #expect(schedule.count(1000, at: .seconds(1)) == .seconds(2))
        #expect(BandwidthSchedule(bytesPerSecond: 0).bytesPerSecond == 1)
        #expect(BandwidthSchedule(bytesPerSecond: -5).bytesPerSecond == 1)
    }

    /// Bytes that are counted before they are read wait for earlier ones only.
    @Test func readsFollowTheRate() {
        var schedule = BandwidthSchedule(bytesPerSecond: 1000)
        #expect(schedule.reserve(500, at: .seconds(1)) == .zero)
        #expect(schedule.reserve(500, at: .seconds(1)) == .milliseconds(500))
        #expect(schedule.reserve(1000, at: .seconds(1.5)) == .milliseconds(500))
        // Unused time is not saved, except for the credit.
        #expect(schedule.reserve(1000, at: .seconds(60)) == .zero)
        #expect(schedule.reserve(1000, at: .seconds(60)) == .milliseconds(900))
    }
}
