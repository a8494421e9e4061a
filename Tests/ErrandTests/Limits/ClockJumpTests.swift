import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Waits are measured in elapsed time: a change of the system date does not affect them.
@Suite(.limited) struct ClockJumpTests {
    private let longAgo = Date(timeIntervalSince1970: 0)
    private let farAhead = Date(timeIntervalSince1970: 5_000_000_000)

    @Test func dateChangeDoesNotAffectTheRetryDelay() async throws {
        let fixture = AgentFixture { $0.retryPolicy = .attempts(2) }
        let busy = ScriptedResponse(status: .serviceUnavailable, headers: [.retryAfter: "20"])
        fixture.transport.on(nil, nil, busy, .json("{}"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.clock.untilSleeping()
        fixture.clock.setNow(farAhead)
        fixture.clock.advance(by: .seconds(19))
        fixture.clock.setNow(longAgo)
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await task.response().attempts == 2)
    }

    @Test func retryAfterDateFarInTheFutureEndsTheRequest() async throws {
        let fixture = AgentFixture { $0.retryPolicy = .attempts(3) }
        fixture.clock.setNow(longAgo)
        let busy = ScriptedResponse(
            status: .serviceUnavailable,
            headers: [.retryAfter: "Tue, 01 Jan 2030 00:00:05 GMT"])
        fixture.transport.on(nil, nil, busy)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.status == 503 && error?.attempts == 1)
        // With a clock that is ahead, the date lies in the past: the retry follows without delay.
        fixture.clock.setNow(farAhead)
        fixture.transport.on(nil, nil, busy, .json("{}"))
        #expect(try await fixture.with(Plain("x")).send().attempts == 2)
    }

    @Test func dateChangeDoesNotAffectRateLimitsAndTimeouts() async throws {
        let fixture = AgentFixture {
            $0.rateLimit = RateLimit(requests: 1, per: .seconds(10))
            $0.timeouts.total = .seconds(60)
        }
        fixture.transport.on(nil, nil, .json("{}"))
        try await fixture.with(Plain("a")).send()
        let second = fixture.agent.start(Plain("b").makeDescription())
        // Two sleepers: the rate limit and the total timeout.
        try await fixture.clock.untilSleeping(2)
        fixture.clock.setNow(farAhead)
        fixture.clock.setNow(longAgo)
        #expect(second.phase == .waiting && fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(10))
        #expect(try await second.response().status == 200)
    }
}

/// `.seconds(Int64.max)` works as a duration without limit.
@Suite(.limited) struct UnlimitedDurationTests {
    @Test func unlimitedTimeoutsAndDelaysAreValid() async throws {
        let transport = ScriptedTransport()
        transport.on(
            nil, nil, ScriptedResponse(status: .serviceUnavailable, headers: [.retryAfter: "0"]),
            .json("{}"))
        let unlimited = Duration.seconds(Int64.max)
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.timeouts = Timeouts(connect: unlimited, idle: unlimited, total: unlimited)
        configuration.retryPolicy = RetryPolicy(
            maximumAttempts: 2, maximumDelay: unlimited, attemptTimeout: unlimited)
        let agent = RequestAgent(configuration: configuration, transport: transport, store: nil)
        #expect(try await Plain("x").send(on: agent).attempts == 2)
    }

    @Test func systemClockAcceptsUnlimitedSleep() async throws {
        let sleeper = Task { try await SystemClock().sleep(for: .seconds(Int64.max)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
