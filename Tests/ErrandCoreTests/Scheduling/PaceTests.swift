import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

@Suite struct PaceTests {
    @Test(
        arguments: [
            (["RateLimit-Policy": #""day";q=100;w=60"#], 100, 60),
            (["RateLimit-Policy": #""burst";q=10;w=1,"day";q=100;w=60"#], 100, 60),
            (["RateLimit-Policy": #""size";q=9;qu="content-bytes";w=60"#], nil, nil),
            (["RateLimit-Limit": "100, 100;w=60"], 100, 60),
            (["RateLimit-Limit": "100"], nil, nil),
            (["RateLimit-Policy": #""x";q=0;w=60"#], nil, nil),
            (["RateLimit-Policy": #""x";q=1e400;w=-1"#], nil, nil),
        ] as [([String: String], Int?, Int?)])
    func theServersLimitIsRead(headers: [String: String], requests: Int?, seconds: Int?) {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let said = RateLimitHeaders(status: 200, headers: fields, now: Date())
        #expect(said.limit?.requests == requests)
        #expect(said.limit?.per == seconds.map { .seconds($0) })
    }

    @Test func aServersLimitSpacesRequestsOut() {
        var pace = Pace()
        var fields = HTTPFields()
        if let policy = HTTPField.Name("RateLimit-Policy"), let left = HTTPField.Name("RateLimit") {
            fields[policy] = #""default";q=10;w=10"#
            fields[left] = #""default";r=2;t=10"#
        }
        let said = RateLimitHeaders(status: 200, headers: fields, now: Date())
        pace.learn(said, now: .zero)
        // The server need not say its limit again.
        #expect(!pace.isIdle(now: .seconds(8)) && !pace.isIdle(now: .seconds(3600)))
        let delays = (0..<4).map { _ in pace.reserve(nil, now: .zero) }
        #expect(delays == [.zero, .zero, .seconds(1), .seconds(2)])
        // The configuration's own limit is the stronger word.
        var other = Pace()
        other.learn(said, now: .zero)
        let own = RateLimit(requests: 1, per: .seconds(5), burst: 1)
        _ = other.reserve(own, now: .zero)
        expect(other.reserve(own, now: .zero), .seconds(5))
    }

    /// What an answer with a policy, and nothing else, says.
    private func policy(_ text: String) -> RateLimitHeaders {
        var fields = HTTPFields()
        if let name = HTTPField.Name("RateLimit-Policy") { fields[name] = text }
        return RateLimitHeaders(status: 200, headers: fields, now: Date())
    }

    @Test func aPolicyAloneIsRemembered() {
        let pacer = Pacer()
        pacer.learn(policy(#""d";q=2;w=60"#), of: "a.example", now: .zero)
        #expect(pacer.count == 1)
        let delays = (0..<4).map { _ in pacer.reserve("a.example", limit: nil, now: .zero) }
        #expect(delays == [.zero, .zero, .seconds(30), .seconds(60)])
        // After a quiet time it still holds.
        let later = (0..<3).map { _ in pacer.reserve("a.example", limit: nil, now: .seconds(3600)) }
        #expect(later == [.zero, .zero, .seconds(30)])
        #expect(pacer.reserve("b.example", limit: nil, now: .zero) == .zero)
    }

    @Test func aServersLimitPutsNobodyToSleepForADay() {
        var pace = Pace()
        pace.learn(policy(#""d";q=1;w=86400"#), now: .zero)
        let delays = (0..<3).map { _ in pace.reserve(nil, now: .zero) }
        #expect(delays == [.zero, Pace.longestPause, Pace.longestPause])
        // What the configuration asks for is meant.
        var strict = Pace()
        let own = RateLimit(requests: 1, per: .seconds(86_400))
        _ = strict.reserve(own, now: .zero)
        expect(strict.reserve(own, now: .zero), .seconds(86_400))
    }

    @Test func refusalsWithoutAReasonAreWaitedOutLongerAndLonger() {
        var pace = Pace()
        let refused = RateLimitHeaders(status: 429, headers: [:], now: Date())
        var now = Duration.zero
        for seconds in [1, 2, 4, 8] {
            pace.learn(refused, now: now)
            #expect(pace.pause(now: now) == .seconds(seconds))
            now += .seconds(seconds)
        }
        pace.learn(RateLimitHeaders(status: 200, headers: [:], now: Date()), now: now)
        #expect(pace.isIdle(now: now))
        pace.learn(refused, now: now)
        #expect(pace.pause(now: now) == .seconds(1))
    }

    @Test func aRefusalWithAPauseThatIsOverIsOneWithoutAPause() {
        var pace = Pace()
        let date = Date(timeIntervalSince1970: 784_111_777)
        let refused = [
            ["Retry-After": "0"], ["Retry-After": "Sun, 06 Nov 1994 08:00:00 GMT"],
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"],
        ].map { headers in
            var fields = HTTPFields()
            for (name, value) in headers {
                if let name = HTTPField.Name(name) { fields[name] = value }
            }
            return RateLimitHeaders(status: 429, headers: fields, now: date)
        }
        for (said, seconds) in zip(refused, [1, 2, 4]) {
            pace.learn(said, now: .zero)
            #expect(pace.pause(now: .zero) == .seconds(seconds))
        }
    }

    @Test func aPeriodWithoutEndIsWaitedForAndTrapsNobody() {
        var pace = Pace()
        let own = RateLimit(requests: 1, per: .seconds(Int64.max), burst: .max)
        for _ in 0..<3 { expect(pace.reserve(own, now: .seconds(1)), .zero) }
        var strict = Pace()
        let single = RateLimit(requests: 1, per: .seconds(Int64.max))
        expect(strict.reserve(single, now: .zero), .zero)
        for _ in 0..<3 { expect(strict.reserve(single, now: .zero), .seconds(1 << 32)) }
        #expect(!strict.isIdle(now: .seconds(1_000_000)))
    }

    private let limit = RateLimit(requests: 2, per: .seconds(1), burst: 3)

    /// The macro takes no mutating calls.
    private func expect(_ value: Duration, _ expected: Duration) {
        #expect(value == expected)
    }

    @Test func aBurstGoesAtOnceAndTheRestIsSpacedOut() {
        var pace = Pace()
        let delays = (0..<6).map { _ in pace.reserve(limit, now: .seconds(10)) }
        #expect(delays.map { $0 / .milliseconds(1) } == [0, 0, 0, 500, 1000, 1500])
        // Two seconds later four tokens came: three were lent, one is left.
        expect(pace.reserve(limit, now: .seconds(12)), .zero)
        expect(pace.reserve(limit, now: .seconds(12)), .milliseconds(500))
    }

    @Test func whoIsCancelledGivesHisTurnBack() {
        var pace = Pace()
        for _ in 0..<4 { _ = pace.reserve(limit, now: .zero) }
        pace.cancel()
        expect(pace.reserve(limit, now: .zero), .milliseconds(500))
    }

    @Test func aQuietTimeSavesNoMoreThanABurst() {
        var pace = Pace()
        _ = pace.reserve(limit, now: .zero)
        let delays = (0..<4).map { _ in pace.reserve(limit, now: .seconds(3600)) }
        #expect(delays == [.zero, .zero, .zero, .milliseconds(500)])
    }

    @Test func aHostIsLeftInPeaceAsLongAsItAsksWithinReason() {
        var pace = Pace()
        pace.hold(for: .seconds(7), now: .zero)
        pace.hold(for: .seconds(3), now: .zero)
        expect(pace.reserve(nil, now: .seconds(2)), .seconds(5))
        expect(pace.reserve(nil, now: .seconds(8)), .zero)
        pace.hold(for: .seconds(1_000_000), now: .seconds(8))
        #expect(pace.pause(now: .seconds(8)) == Pace.longestPause)
    }

    @Test(
        arguments: [
            (429, ["Retry-After": "7"], 7.0), (503, ["Retry-After": "7"], 7),
            (200, ["Retry-After": "7"], nil),
            (429, ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"], 10),
            (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "30"], 30),
            (200, ["RateLimit-Remaining": "5", "RateLimit-Reset": "30"], nil),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "784111797"], nil),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "12"], 12),
            (200, ["RateLimit": #""default";r=0;t=30"#], 30),
            (200, ["RateLimit": #""default";r=1;t=30"#], nil),
            (200, ["RateLimit": #""burst";r=0;t=5, "day";r=900;t=3600"#], 5),
            (200, ["RateLimit": #""a, b";r=0;t=5, "day";r=0;t=50"#], 50),
            (200, ["RateLimit": "limit=100, remaining=0, reset=9"], 9),
            (200, ["RateLimit": "limit=100, remaining=3, reset=9"], nil),
            (429, ["Retry-After": "soon"], nil), (200, ["RateLimit-Remaining": "nan"], nil),
            (200, ["RateLimit-Remaining": "-1", "RateLimit-Reset": "-9"], 0), (200, [:], nil),
        ] as [(Int, [String: String], Double?)])
    func answersSayHowLongToWait(status: Int, headers: [String: String], seconds: Double?) {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let now = Date(timeIntervalSince1970: 784_111_777)
        let pause = RateLimitHeaders(status: status, headers: fields, now: now).pause
        if headers["X-RateLimit-Reset"] == "784111797" {
            // Below the threshold for dates: taken as seconds and capped.
            #expect(pause == .seconds(86_400))
        } else {
            #expect(pause == seconds.map { .seconds($0) })
        }
    }
}
