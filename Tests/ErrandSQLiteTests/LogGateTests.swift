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
            #expect(gate.checkpointEnded(didEmpty: false, now: after(second)) == .tryAgain)
            #expect(gate.decide(log: limit, adding: 1, now: after(second)) == .checkpoint)
        }
        #expect(gate.checkpointEnded(didEmpty: false, now: after(2)) == .blocked)
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
            #expect(gate.checkpointEnded(didEmpty: false, now: after(second)) == .blocked)
            #expect(gate.decide(log: limit, adding: 1, now: after(second + 4)) == .refuse)
        }
    }

    @Test mutating func emptiedLogEndsTheBlock() {
        block()
        #expect(gate.checkpointEnded(didEmpty: true, now: after(7)) == .emptied)
        #expect(gate.decide(log: limit, adding: 1, now: after(7)) == .checkpoint)
        #expect(gate.checkpointEnded(didEmpty: false, now: after(8)) == .tryAgain)
    }

    @Test mutating func failuresLongAgoDoNotCount() {
        #expect(gate.checkpointEnded(didEmpty: false, now: start) == .tryAgain)
        #expect(gate.checkpointEnded(didEmpty: false, now: after(3600)) == .tryAgain)
        #expect(gate.checkpointEnded(didEmpty: false, now: after(3601)) == .tryAgain)
        #expect(gate.checkpointEnded(didEmpty: false, now: after(3602)) == .blocked)
    }

    private mutating func block() {
        _ = gate.checkpointEnded(didEmpty: false, now: start)
        _ = gate.checkpointEnded(didEmpty: false, now: after(1))
        #expect(gate.checkpointEnded(didEmpty: false, now: after(2)) == .blocked)
    }
}
