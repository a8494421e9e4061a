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

    @Test func noTimeoutsMeanNoDeadline() {
        #expect(deadlines(connect: nil, idle: nil).verdict(at: .seconds(1 << 30)) == .never)
    }
}
