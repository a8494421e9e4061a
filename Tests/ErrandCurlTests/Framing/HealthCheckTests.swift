import Testing

@testable import ErrandCurl

/// When a silent connection is checked, and when it is dead.
struct HealthCheckTests {
    private static func at(_ seconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func waitingRequest() {
        var health = HealthCheck(at: Self.at(10))
        #expect(health.check(at: Self.at(14), isWaiting: true) == .wait(until: Self.at(15)))
        #expect(health.check(at: Self.at(15), isWaiting: true) == .ping)
        health.sent(at: Self.at(15))
        #expect(health.isPending)
        // A second PING does not move the end.
        health.sent(at: Self.at(19))
        #expect(health.check(at: Self.at(19), isWaiting: true) == .wait(until: Self.at(20)))
        #expect(health.check(at: Self.at(20), isWaiting: true) == .close)
    }

    /// Any input is a sign of life.
    @Test func input() {
        var health = HealthCheck(at: Self.at(10))
        health.sent(at: Self.at(15))
        health.received(at: Self.at(19))
        #expect(!health.isPending)
        #expect(health.check(at: Self.at(20), isWaiting: true) == .wait(until: Self.at(24)))
    }

    /// An idle connection is not checked, but a check that was sent ends it.
    @Test func idle() {
        var health = HealthCheck(at: Self.at(10))
        #expect(health.check(at: Self.at(1_000), isWaiting: false) == .wait(until: .never))
        health.sent(at: Self.at(1_000))
        #expect(health.check(at: Self.at(1_005), isWaiting: false) == .close)
    }

    @Test func beforeUse() {
        var health = HealthCheck(at: Self.at(10))
        #expect(!health.isDueBeforeUse(at: Self.at(39)))
        #expect(health.isDueBeforeUse(at: Self.at(40)))
        health.sent(at: Self.at(40))
        #expect(!health.isDueBeforeUse(at: Self.at(41)))
    }

    /// The silence of a new request begins with it, not with the last input before.
    @Test func requestAfterSilence() {
        var health = HealthCheck(at: Self.at(10))
        health.requestBegan(at: Self.at(30), isFirst: true)
        #expect(health.check(at: Self.at(30), isWaiting: true) == .wait(until: Self.at(35)))
        // The first one still waits.
        health.requestBegan(at: Self.at(34), isFirst: false)
        #expect(health.check(at: Self.at(35), isWaiting: true) == .ping)
        health.sent(at: Self.at(35))
        // A request that begins later does not prolong the wait for a PING.
        health.requestBegan(at: Self.at(39), isFirst: false)
        #expect(health.check(at: Self.at(40), isWaiting: true) == .close)
    }

    /// PINGs become rare on a stream that is silent for long; other input and requests end that.
    @Test(arguments: [false, true])
    func acknowledgements(isRequest: Bool) {
        var health = HealthCheck(at: Self.at(0))
        var (now, times): (UInt64, [UInt64]) = (0, [])
        for _ in 0..<4 {
            guard case .wait(let due) = health.check(at: Self.at(now), isWaiting: true) else {
                Issue.record("A PING is due too early.")
                return
            }
            now = due.nanoseconds / 1_000_000_000
            #expect(health.check(at: due, isWaiting: true) == .ping)
            times.append(now)
            health.sent(at: due)
            health.received(at: due)
            health.pingAcknowledged()
        }
        #expect(times == [5, 45, 345, 645])
        if isRequest {
            health.requestBegan(at: Self.at(700), isFirst: false)
            #expect(health.check(at: Self.at(649), isWaiting: true) == .wait(until: Self.at(650)))
        } else {
            health.received(at: Self.at(700))
            #expect(health.check(at: Self.at(700), isWaiting: true) == .wait(until: Self.at(705)))
        }
    }

    /// Bytes that are acknowledged show that the peer is alive; PING may wait behind them.
    @Test func slowUpload() {
        func queue(_ acknowledged: UInt64, _ silence: Duration?) -> SendQueue {
            SendQueue(acknowledged: acknowledged, waiting: 1, silence: silence)
        }
        var health = HealthCheck(at: Self.at(0))
        health.sent(at: Self.at(5), acknowledged: 100)
        #expect(health.check(at: Self.at(10), isWaiting: true) == .close)
        let first = health.goesOn(queue(200, .seconds(2)), at: Self.at(10))
        #expect(first)
        #expect(health.check(at: Self.at(10), isWaiting: true) == .wait(until: Self.at(13)))
        // An old system does not report the time.
        let second = health.goesOn(queue(300, nil), at: Self.at(13))
        #expect(second)
        #expect(health.check(at: Self.at(13), isWaiting: true) == .wait(until: Self.at(18)))
        // Acknowledgements without bytes confirm probes of the system only.
        let third = health.goesOn(queue(300, .zero), at: Self.at(18))
        #expect(!third)
        #expect(health.check(at: Self.at(18), isWaiting: true) == .close)
    }

    @Test func acknowledgementOfLongAgo() {
        func queue(_ acknowledged: UInt64) -> SendQueue {
            SendQueue(acknowledged: acknowledged, waiting: 0, silence: .seconds(5))
        }
        var health = HealthCheck(at: Self.at(0))
        health.sent(at: Self.at(5), acknowledged: 100)
        // Only the PING was acknowledged, at once, and nothing responded.
        var goOn = [health.goesOn(queue(117), at: Self.at(10))]
        var unknown = HealthCheck(at: Self.at(0))
        unknown.sent(at: Self.at(5))
        goOn.append(unknown.goesOn(queue(200), at: Self.at(10)))
        var unsent = HealthCheck(at: Self.at(0))
        goOn.append(unsent.goesOn(queue(200), at: Self.at(10)))
        #expect(goOn == [false, false, false])
    }

    @Test func timeout() {
        var health = HealthCheck(at: Self.at(10))
        #expect(health.isDueAtTimeout)
        health.sent(at: Self.at(11))
        #expect(!health.isDueAtTimeout)
    }
}
