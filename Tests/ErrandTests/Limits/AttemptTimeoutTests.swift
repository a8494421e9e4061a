import Errand
import ErrandTesting
import TestSupport
import Testing

/// `RetryPolicy.attemptTimeout` measures only the time in which an attempt's transfers are active.
@Suite(.limited) struct AttemptTimeoutTests {
    private static let timeout = Duration.seconds(5)

    private func fixture(_ change: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 3, baseDelay: .zero, attemptTimeout: Self.timeout)
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 1)
            change(&$0)
        }
        fixture.transport.on(nil, nil, .json("{}"))
        return fixture
    }

    @Test func rateLimitDelayDoesNotCount() async throws {
        let fixture = fixture {
            $0.hostRateLimits = ["Slow.Example": RateLimit(requests: 1, per: .seconds(60))]
        }
        try await fixture.with(Plain("https://slow.example/a")).send()
        let task = fixture.agent.start(Plain("https://slow.example/b").makeDescription())
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(59))
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await task.response().attempts == 1)
    }

    @Test func waitingForCredentialsDoesNotCount() async throws {
        let gate = Gate()
        let fixture = fixture {
            $0.authenticators = [
                "api.example.com": GatedAuthenticator(applying: gate)
            ]
        }
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await gate.reached()
        #expect(fixture.clock.sleepers == 0)
        fixture.clock.advance(by: .seconds(100))
        gate.open()
        #expect(try await task.response().attempts == 1)
    }

    @Test func suspendedTimeDoesNotCount() async throws {
        let fixture = fixture()
        let gate = Gate()
        fixture.transport.on(.get, "/held", ScriptedResponse.json("{}").held(by: gate))
        let task = fixture.agent.start(Plain("held").makeDescription())
        try await gate.reached()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(4))
        task.suspend()
        #expect(fixture.clock.sleepers == 0)
        fixture.clock.advance(by: .seconds(100))
        task.resume()
        // One second of the attempt timeout remains.
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .milliseconds(999))
        #expect(fixture.clock.sleepers == 1)
        gate.open()
        #expect(try await task.response().attempts == 1)
    }

    @Test func redirectedTransfersOfOneAttemptShareTheTimeout() async throws {
        let fixture = fixture { $0.retryPolicy.maximumAttempts = 1 }
        let (first, second) = (Gate(), Gate())
        fixture.transport.on(
            .get, "/a",
            ScriptedResponse(status: .found, headers: [.location: "/b"]).held(by: first))
        fixture.transport.on(.get, "/b", ScriptedResponse.json("{}").held(by: second))
        let task = fixture.agent.start(Plain("a").makeDescription())
        try await first.reached()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(3))
        first.open()
        try await second.reached()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(2))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .timedOut && error?.timeout == .attempt)
        // The timeout counts as a failure of the host: its circuit is open.
        let next = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(next?.code == .circuitOpen)
    }

    @Test func timeoutTimerEndsWithTheAttempt() async throws {
        let fixture = fixture()
        #expect(try await fixture.with(Plain("x")).send().status == 200)
        #expect(fixture.clock.sleepers == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func nonPositiveTimeoutIsInvalidConfiguration(timeout: Duration) async {
        let fixture = fixture { $0.retryPolicy.attemptTimeout = timeout }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(fixture.transport.requests.isEmpty)
    }
}
