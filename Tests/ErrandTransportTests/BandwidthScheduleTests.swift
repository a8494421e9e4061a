import Testing

@testable import ErrandTransport

/// The times at which receivers go on.
@Suite struct BandwidthScheduleTests {
    private func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }

    @Test func withoutALimitNothingWaits() {
        var schedule = BandwidthSchedule(bytesPerSecond: nil)
        #expect(schedule.count(.max, at: .zero) == nil)
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
            if let end = schedule.count(size, at: now) {
                #expect(end > now)
                now = end + .milliseconds(lateness)
            }
        }
        let expected = Double(bytes) / 1000
        let found = milliseconds(now - .seconds(50))
        // The waits whose lateness exceeds the time of a chunk are made up for up to the credit.
        #expect(found >= expected && found < expected + 100)
    }

    @Test func unusedTimeIsNotSaved() {
        var schedule = BandwidthSchedule(bytesPerSecond: 1000)
        #expect(schedule.count(1000, at: .zero) == .seconds(1))
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
}
