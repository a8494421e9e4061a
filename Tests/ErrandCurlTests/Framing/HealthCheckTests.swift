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

    @Test func timeout() {
        var health = HealthCheck(at: Self.at(10))
        #expect(health.isDueAtTimeout)
        health.sent(at: Self.at(11))
        #expect(!health.isDueAtTimeout)
    }

    /// The silence of an idle connection is no sign that the server is gone.
    @Test func silenceCountsFromTheFirstRequest() {
        let second: UInt64 = 1_000_000_000
        func time(_ seconds: UInt64) -> MonotonicTime {
            MonotonicTime(nanoseconds: seconds * second)
        }
        var check = HealthCheck(at: time(0))
        check.beginsToWait(at: time(20))
        #expect(check.check(at: time(24), isWaiting: true) == .wait(until: time(25)))
        #expect(check.check(at: time(25), isWaiting: true) == .ping)
        check.sent(at: time(25))
        // A request that begins later does not prolong the wait for a PING.
        check.beginsToWait(at: time(29))
        #expect(check.check(at: time(30), isWaiting: true) == .close)
    }
}
