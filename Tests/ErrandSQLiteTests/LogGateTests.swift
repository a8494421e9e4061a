import Testing

@testable import ErrandSQLite

/// The state machine of the write-ahead log.
struct LogGateTests {
    private static let limits = StoreLimits(
        bytes: 1 << 20, memoryBytes: 0, checkpointPatience: .seconds(2),
        checkpointPause: .seconds(5))
    private let limit = LogGateTests.limits.logBytes
    private let start = ContinuousClock.now
    private var gate = LogGate(LogGateTests.limits)

    private func after(_ seconds: Double) -> LogGate.Instant { start + .seconds(seconds) }

    @Test func writeThatFitsExtendsTheLog() {
        #expect(gate.decide(log: 0, adding: 100, now: start) == .extend)
        #expect(gate.decide(log: 1000, adding: limit - 1000, now: start) == .extend)
    }

    @Test func writeThatDoesNotFitEmptiesTheLog() {
        #expect(gate.decide(log: 1000, adding: limit - 999, now: start) == .checkpoint)
        #expect(gate.decide(log: 10 * limit, adding: 0, now: start) == .checkpoint)
    }

    @Test func writeLargerThanTheLimitNeedsAnEmptyLog() {
        #expect(gate.decide(log: 32, adding: 3 * limit, now: start) == .checkpoint)
        #expect(gate.decide(log: 0, adding: 3 * limit, now: start) == .extend)
    }

    @Test mutating func failedCheckpointIsTriedAgainUntilPatienceEnds() {
        for second in [0.0, 0.5, 1, 1.9] {
            #expect(failed(after(second), 1) == .tryAgain)
            #expect(gate.decide(log: limit, adding: 1, now: after(second)) == .checkpoint)
        }
        #expect(gate.checkpointEnded(didEmpty: false, generation: 1, now: after(2)) == .blocked)
    }

    @Test mutating func blockedLogRefusesWritesUntilThePauseEnds() {
        block()
        #expect(gate.decide(log: limit, adding: 1, now: after(2)) == .refuse)
        #expect(gate.decide(log: limit, adding: 1, now: after(6.9)) == .refuse)
        #expect(gate.decide(log: limit, adding: 1, now: after(7)) == .checkpoint)
    }

    @Test mutating func blockedLogAcceptsWritesThatFit() {
        block()
        #expect(gate.decide(log: limit - 100, adding: 100, now: after(2)) == .extend)
        #expect(gate.decide(log: 0, adding: limit, now: after(2)) == .extend)
    }

    @Test mutating func blockedLogIsTriedOncePerPause() {
        block()
        for second in [7.0, 12, 17] {
            #expect(failed(after(second), 1) == .blocked)
            #expect(gate.decide(log: limit, adding: 1, now: after(second + 4)) == .refuse)
        }
    }

    @Test mutating func emptiedLogEndsTheBlock() {
        block()
        #expect(gate.checkpointEnded(didEmpty: true, generation: 1, now: after(7)) == .emptied)
        #expect(gate.decide(log: limit, adding: 1, now: after(7)) == .checkpoint)
        #expect(gate.checkpointEnded(didEmpty: false, generation: 1, now: after(8)) == .tryAgain)
    }

    @Test mutating func failuresLongAgoDoNotCount() {
        #expect(gate.checkpointEnded(didEmpty: false, generation: 1, now: start) == .tryAgain)
        #expect(gate.checkpointEnded(didEmpty: false, generation: 1, now: after(3600)) == .tryAgain)
        #expect(gate.checkpointEnded(didEmpty: false, generation: 1, now: after(3601)) == .tryAgain)
        #expect(gate.checkpointEnded(didEmpty: false, generation: 1, now: after(3602)) == .blocked)
    }

    @Test mutating func logThatAnotherConnectionHasEmptiedIsNotBlocked() {
        #expect(failed(after(0), 1) == .tryAgain)
        // The patience begins again with each use of the log.
        for (second, generation) in [(1.9, 2), (3.8, 2), (4, 3), (5.9, 3)] as [(Double, UInt64)] {
            #expect(failed(after(second), generation) == .tryAgain)
        }
        #expect(failed(after(6), 3) == .blocked)
        #expect(gate.decide(log: limit, adding: 1, now: after(10.9)) == .refuse)
        #expect(failed(after(11), 3) == .blocked)
        // Another connection empties the log during the block.
        #expect(failed(after(16), 4) == .tryAgain)
        #expect(!gate.isBlocked)
        #expect(gate.decide(log: limit, adding: 1, now: after(16)) == .checkpoint)
        #expect(failed(after(18), 4) == .blocked)
    }

    @Test func withoutPatienceEachFailureBlocks() {
        var limits = Self.limits
        limits.checkpointPatience = .zero
        var gate = LogGate(limits)
        for generation: UInt64 in 1...3 {
            #expect(
                gate.checkpointEnded(didEmpty: false, generation: generation, now: start)
                    == .blocked)
        }
    }

    private mutating func failed(
        _ time: LogGate.Instant, _ generation: UInt64
    ) -> LogGate.Outcome {
        gate.checkpointEnded(didEmpty: false, generation: generation, now: time)
    }

    private mutating func block() {
        _ = gate.checkpointEnded(didEmpty: false, generation: 1, now: start)
        _ = gate.checkpointEnded(didEmpty: false, generation: 1, now: after(1))
        #expect(gate.checkpointEnded(didEmpty: false, generation: 1, now: after(2)) == .blocked)
    }
}
