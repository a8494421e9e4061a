import ErrandHTTP
import Testing

@testable import ErrandCore

/// The smoothed rate of a transfer, and the time left.
@Suite struct TransferRateTests {
    private func rate(_ samples: [(Double, Int64)]) -> Double? {
        var rate = TransferRate()
        for (seconds, bytes) in samples { rate.add(bytes, at: .seconds(seconds)) }
        return rate.bytesPerSecond
    }

    private func isClose(_ one: Double?, _ other: Double) -> Bool {
        one.map { abs($0 - other) < 1e-6 * max(1, other) } ?? false
    }

    @Test func rateIsUnknownBeforeTheFirstInterval() {
        #expect(rate([]) == nil)
        #expect(rate([(10, 500)]) == nil)
        #expect(rate([(10, 500), (10, 900), (10.09, 5000)]) == nil)
        #expect(isClose(rate([(10, 500), (10.125, 625)]), 1000))
    }

    /// Bytes that were there at the first sample do not count.
    @Test func constantRateIsExact() {
        for step in [0.1, 0.25, 1, 7] {
            let samples = (0..<50).map { index in
                let seconds = Double(index) * step
                return (seconds, 1_000_000 + Int64((seconds * 400).rounded()))
            }
            #expect(isClose(rate(samples), 400))
        }
    }

    @Test func shortIntervalsAreCountedTogether() {
        let samples = (0...100).map { (Double($0) * 0.01, Int64($0) * 50) }
        #expect(isClose(rate(samples), 5000))
    }

    @Test func shiftedBytesHaveNoPartInTheRate() {
        var rate = TransferRate()
        rate.add(0, at: .seconds(1))
        rate.shift(by: 5000)
        rate.add(5200, at: .seconds(2))
        #expect(isClose(rate.bytesPerSecond, 200))
        rate.shift(by: -100)
        rate.add(5300, at: .seconds(3))
        #expect(isClose(rate.bytesPerSecond, 200))
    }

    @Test func earlyRateIsTheAverageSoFar() {
        #expect(isClose(rate([(0, 0), (1, 1000), (2, 1000)]), 500))
        #expect(isClose(rate([(0, 0), (1, 0), (2, 0), (4, 4000)]), 1000))
    }

    @Test func rateFollowsAChange() throws {
        var samples: [(Double, Int64)] = (0...60).map { (Double($0), Int64($0) * 1000) }
        samples += (1...30).map { (60 + Double($0), 60_000 + Int64($0) * 100) }
        let after5 = try #require(rate(Array(samples.prefix(66))))
        #expect(after5 > 100 && after5 < 550)
        let after30 = try #require(rate(samples))
        #expect(after30 > 100 && after30 < 110)
    }

    @Test func stallLowersTheRate() throws {
        let stalled = try #require(rate([(0, 0), (1, 1000), (2, 2000), (100, 2000)]))
        #expect(stalled < 60)
    }

    /// A new attempt counts from a smaller number; the rate remains until its first interval.
    @Test func newAttemptKeepsTheRate() {
        let before: [(Double, Int64)] = [(0, 0), (1, 1000), (2, 2000)]
        #expect(isClose(rate(before + [(2.5, 0)]), 1000))
        #expect(isClose(rate(before + [(2.5, 0), (3.5, 1000)]), 1000))
    }

    // MARK: - Time left

    private func timeLeft(_ change: (inout TransferProgress) -> Void) -> Duration? {
        var progress = TransferProgress()
        change(&progress)
        return progress.timeLeft
    }

    @Test func timeLeftNeedsATotalAndARate() {
        #expect(timeLeft { _ in } == nil)
        #expect(timeLeft { $0.totalBytesToReceive = 10 } == nil)
        #expect(timeLeft { $0.bytesReceivedPerSecond = 10 } == nil)
        #expect(timeLeft { ($0.totalBytesToReceive, $0.bytesReceivedPerSecond) = (10, 0) } == nil)
        // A stalled transfer has no time left that means anything.
        #expect(timeLeft { ($0.totalBytesToReceive, $0.bytesReceivedPerSecond) = (.max, 1) } == nil)
    }

    @Test func timeLeftIsThatOfTheMissingBytes() {
        let left = timeLeft {
            ($0.bytesReceived, $0.totalBytesToReceive, $0.resumedBytes) = (600, 1000, 500)
            $0.bytesReceivedPerSecond = 100
        }
        #expect(left == .seconds(4))
        #expect(timeLeft { ($0.bytesReceived, $0.totalBytesToReceive) = (10, 10) } == .zero)
        #expect(timeLeft { ($0.bytesReceived, $0.totalBytesToReceive) = (11, 10) } == .zero)
    }

    @Test func timeLeftOfAnUploadEndsWithTheResponse() {
        let left = timeLeft {
            ($0.bytesSent, $0.totalBytesToSend, $0.bytesSentPerSecond) = (250, 1000, 250)
        }
        #expect(left == .seconds(3))
        #expect(timeLeft { ($0.bytesSent, $0.totalBytesToSend) = (10, 10) } == nil)
    }
}
