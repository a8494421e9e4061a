import ErrandCore
import Testing

@testable import ErrandURLSession

/// The computation of connect and idle deadlines, without a clock.
@Suite("TransferDeadlines")
struct TransferDeadlinesTests {
    private func deadlines(connect: Int?, idle: Int?) -> TransferDeadlines {
        TransferDeadlines(
            Timeouts(
                connect: connect.map { .milliseconds($0) }, idle: idle.map { .milliseconds($0) }),
            start: .zero)
    }

    @Test func earlierDeadlineApplies() {
        let deadlines = deadlines(connect: 100, idle: 300)
        #expect(deadlines.verdict(at: .zero) == .wait(.milliseconds(100)))
        #expect(deadlines.verdict(at: .milliseconds(100)) == .isConnecting)
    }

    @Test func onlyTheIdleTimeoutAppliesAfterConnecting() {
        var deadlines = deadlines(connect: 100, idle: 300)
        deadlines.active(at: .milliseconds(50), fromServer: true)
        #expect(deadlines.verdict(at: .milliseconds(100)) == .wait(.milliseconds(250)))
        #expect(deadlines.verdict(at: .milliseconds(349)) == .wait(.milliseconds(1)))
        #expect(deadlines.verdict(at: .milliseconds(350)) == .expired(.idle))
    }

    @Test func producingTheBodyDoesNotMeanConnected() {
        var deadlines = deadlines(connect: 100, idle: 300)
        deadlines.active(at: .milliseconds(50), fromServer: false)
        #expect(deadlines.verdict(at: .milliseconds(100)) == .isConnecting)
        deadlines.connected()
        #expect(deadlines.verdict(at: .milliseconds(100)) == .wait(.milliseconds(250)))
    }

    @Test func pausedReceiverDoesNotTimeOut() {
        var deadlines = deadlines(connect: nil, idle: 100)
        deadlines.setPaused(true, at: .milliseconds(50))
        #expect(deadlines.verdict(at: .seconds(5)) == .wait(.milliseconds(100)))
        deadlines.setPaused(false, at: .seconds(6))
        #expect(deadlines.verdict(at: .seconds(6)) == .wait(.milliseconds(100)))
        #expect(deadlines.verdict(at: .milliseconds(6100)) == .expired(.idle))
    }

    @Test func idleTimeoutIsPostponedToTheBeginningOfTheWait() {
        var deadlines = deadlines(connect: nil, idle: 100)
        // The receiver has been waiting for 30 of the 100 milliseconds.
        var isPostponed = deadlines.postponeIdle(
            waitingTime: .milliseconds(30), at: .milliseconds(100))
        #expect(isPostponed)
        #expect(deadlines.verdict(at: .milliseconds(100)) == .wait(.milliseconds(70)))
        #expect(deadlines.verdict(at: .milliseconds(170)) == .expired(.idle))
        // It has been waiting since then.
        isPostponed = deadlines.postponeIdle(
            waitingTime: .milliseconds(100), at: .milliseconds(170))
        #expect(!isPostponed)
    }

    @Test func idleTimeoutIsPostponedWhileTheReceiverDoesNotWait() {
        var deadlines = deadlines(connect: nil, idle: 100)
        for time in [100, 200, 1000] {
            let isPostponed = deadlines.postponeIdle(waitingTime: nil, at: .milliseconds(time))
            #expect(isPostponed)
            #expect(deadlines.verdict(at: .milliseconds(time)) == .wait(.milliseconds(100)))
        }
    }

    @Test func receiverThatHasAlwaysWaitedIsNotGivenMoreTime() {
        var deadlines = deadlines(connect: nil, idle: 100)
        var isPostponed = deadlines.postponeIdle(
            waitingTime: .seconds(Int64.max), at: .milliseconds(100))
        #expect(!isPostponed)
        // Activity after the beginning of the wait counts.
        deadlines.active(at: .milliseconds(60), fromServer: true)
        isPostponed = deadlines.postponeIdle(
            waitingTime: .milliseconds(160), at: .milliseconds(160))
        #expect(!isPostponed)
        #expect(deadlines.verdict(at: .milliseconds(160)) == .expired(.idle))
    }

    @Test func noTimeoutsMeanNoDeadline() {
        #expect(deadlines(connect: nil, idle: nil).verdict(at: .seconds(1 << 30)) == .never)
    }
}
