import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCore

@Suite struct RateLimitTests {
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
    func serverLimitIsParsed(headers: [String: String], requests: Int?, seconds: Int?) {
        let parsed = RateLimitHeaders(status: 200, headers: HTTPFields(text: headers), now: Date())
        #expect(parsed.limit?.requests == requests)
        #expect(parsed.limit?.per == seconds.map { .seconds($0) })
    }

    @Test func serverLimitSpacesRequests() {
        var hostLimit = HostRateLimit()
        let fields = HTTPFields(text: [
            "RateLimit-Policy": #""default";q=10;w=10"#, "RateLimit": #""default";r=2;t=10"#,
        ])
        let parsed = RateLimitHeaders(status: 200, headers: fields, now: Date())
        hostLimit.learn(parsed, now: .zero)
        // The limit of the server stays known without being sent again.
        #expect(!hostLimit.isIdle(now: .seconds(8)) && !hostLimit.isIdle(now: .seconds(3600)))
        let delays = (0..<4).map { _ in hostLimit.reserve(nil, now: .zero) }
        #expect(delays == [.zero, .zero, .seconds(1), .seconds(2)])
        // A limit of the configuration overrides that of the server.
        var other = HostRateLimit()
        other.learn(parsed, now: .zero)
        let own = RateLimit(requests: 1, per: .seconds(5), burst: 1)
        _ = other.reserve(own, now: .zero)
        expectEqual(other.reserve(own, now: .zero), .seconds(5))
    }

    /// The headers of a response with a `RateLimit-Policy` field only.
    private func policy(_ text: String) -> RateLimitHeaders {
        RateLimitHeaders(
            status: 200, headers: HTTPFields(text: ["RateLimit-Policy": text]), now: Date())
    }

    @Test func policyWithoutOtherFieldsIsRemembered() {
        let rateLimiter = RateLimiter()
        rateLimiter.learn(policy(#""d";q=2;w=60"#), of: "a.example", now: .zero)
        #expect(rateLimiter.count == 1)
        let delays = (0..<4).map { _ in rateLimiter.reserve("a.example", limit: nil, now: .zero) }
        #expect(delays == [.zero, .zero, .seconds(30), .seconds(60)])
        // The limit still holds after an idle hour.
        let later = (0..<3).map { _ in
            rateLimiter.reserve("a.example", limit: nil, now: .seconds(3600))
        }
        #expect(later == [.zero, .zero, .seconds(30)])
        #expect(rateLimiter.reserve("b.example", limit: nil, now: .zero) == .zero)
    }

    @Test func pausesOfServerLimitsAreCapped() {
        var hostLimit = HostRateLimit()
        hostLimit.learn(policy(#""d";q=1;w=86400"#), now: .zero)
        let delays = (0..<3).map { _ in hostLimit.reserve(nil, now: .zero) }
        #expect(delays == [.zero, HostRateLimit.longestPause, HostRateLimit.longestPause])
        // The pauses of a limit of the configuration are not capped.
        var strict = HostRateLimit()
        let own = RateLimit(requests: 1, per: .seconds(86_400))
        _ = strict.reserve(own, now: .zero)
        expectEqual(strict.reserve(own, now: .zero), .seconds(86_400))
    }

    @Test func refusalsWithoutRetryAfterBackOffExponentially() {
        var hostLimit = HostRateLimit()
        let refused = RateLimitHeaders(status: 429, headers: [:], now: Date())
        var now = Duration.zero
        for seconds in [1, 2, 4, 8] {
            hostLimit.learn(refused, now: now)
            #expect(hostLimit.pause(now: now) == .seconds(seconds))
            now += .seconds(seconds)
        }
        hostLimit.learn(RateLimitHeaders(status: 200, headers: [:], now: Date()), now: now)
        #expect(hostLimit.isIdle(now: now))
        hostLimit.learn(refused, now: now)
        #expect(hostLimit.pause(now: now) == .seconds(1))
    }

    @Test func refusalsWithAnExpiredPauseBackOffExponentially() {
        var hostLimit = HostRateLimit()
        let date = Date(timeIntervalSince1970: 784_111_777)
        let refused = [
            ["Retry-After": "0"], ["Retry-After": "Sun, 06 Nov 1994 08:00:00 GMT"],
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"],
        ].map { RateLimitHeaders(status: 429, headers: HTTPFields(text: $0), now: date) }
        for (parsed, seconds) in zip(refused, [1, 2, 4]) {
            hostLimit.learn(parsed, now: .zero)
            #expect(hostLimit.pause(now: .zero) == .seconds(seconds))
        }
    }

    @Test func longestPeriodDoesNotOverflow() {
        var hostLimit = HostRateLimit()
        let own = RateLimit(requests: 1, per: .seconds(Int64.max), burst: .max)
        for _ in 0..<3 { expectEqual(hostLimit.reserve(own, now: .seconds(1)), .zero) }
        var strict = HostRateLimit()
        let single = RateLimit(requests: 1, per: .seconds(Int64.max))
        expectEqual(strict.reserve(single, now: .zero), .zero)
        for _ in 0..<3 { expectEqual(strict.reserve(single, now: .zero), .seconds(1 << 32)) }
        #expect(!strict.isIdle(now: .seconds(1_000_000)))
    }

    private let limit = RateLimit(requests: 2, per: .seconds(1), burst: 3)

    @Test func burstIsSentAtOnceAndTheRestIsSpaced() {
        var hostLimit = HostRateLimit()
        let delays = (0..<6).map { _ in hostLimit.reserve(limit, now: .seconds(10)) }
        #expect(delays.map { $0 / .milliseconds(1) } == [0, 0, 0, 500, 1000, 1500])
        // Two seconds add four tokens: three repay the reservations, one is left.
        expectEqual(hostLimit.reserve(limit, now: .seconds(12)), .zero)
        expectEqual(hostLimit.reserve(limit, now: .seconds(12)), .milliseconds(500))
    }

    @Test func cancelledReservationIsReturned() {
        var hostLimit = HostRateLimit()
        for _ in 0..<4 { _ = hostLimit.reserve(limit, now: .zero) }
        hostLimit.cancel()
        expectEqual(hostLimit.reserve(limit, now: .zero), .milliseconds(500))
    }

    @Test func idleTimeAddsAtMostOneBurst() {
        var hostLimit = HostRateLimit()
        _ = hostLimit.reserve(limit, now: .zero)
        let delays = (0..<4).map { _ in hostLimit.reserve(limit, now: .seconds(3600)) }
        #expect(delays == [.zero, .zero, .zero, .milliseconds(500)])
    }

    @Test func requestedPauseIsKeptUpToTheMaximum() {
        var hostLimit = HostRateLimit()
        hostLimit.hold(for: .seconds(7), now: .zero)
        hostLimit.hold(for: .seconds(3), now: .zero)
        expectEqual(hostLimit.reserve(nil, now: .seconds(2)), .seconds(5))
        expectEqual(hostLimit.reserve(nil, now: .seconds(8)), .zero)
        hostLimit.hold(for: .seconds(1_000_000), now: .seconds(8))
        #expect(hostLimit.pause(now: .seconds(8)) == HostRateLimit.longestPause)
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
    func responseHeadersSetThePause(status: Int, headers: [String: String], seconds: Double?) {
        let now = Date(timeIntervalSince1970: 784_111_777)
        let pause = RateLimitHeaders(
            status: status, headers: HTTPFields(text: headers), now: now
        ).pause
        if headers["X-RateLimit-Reset"] == "784111797" {
            // Below the threshold for dates: taken as seconds and capped.
            #expect(pause == .seconds(86_400))
        } else {
            #expect(pause == seconds.map { .seconds($0) })
        }
    }
}
