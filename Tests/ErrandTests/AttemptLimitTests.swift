import Errand
import ErrandTesting
import Testing

/// `RetryPolicy.attemptTimeout` counts what is sent and received, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct AttemptLimitTests {
    private static let limit = Duration.seconds(5)

    private func world(_ change: (inout Configuration) -> Void = { _ in }) -> World {
        let world = World {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 3, baseDelay: .zero, attemptTimeout: Self.limit)
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 1)
            change(&$0)
        }
        world.transport.on(nil, nil, .json("{}"))
        return world
    }

    @Test func theWaitForARateLimitDoesNotCount() async throws {
        let world = world {
            $0.hostRateLimits = ["Slow.Example": RateLimit(requests: 1, per: .seconds(60))]
        }
        try await world.with(Plain("https://slow.example/a")).send()
        let task = world.agent.start(Plain("https://slow.example/b").describe())
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(59))
        #expect(world.transport.requests.count == 1)
        world.clock.advance(by: .seconds(1))
        #expect(try await task.response().attempts == 1)
    }

    @Test func theWaitForCredentialsDoesNotCount() async throws {
        let gate = Gate()
        let world = world { $0.authenticators = [HostAuthenticator("api.example.com", Slow(gate))] }
        let task = world.agent.start(Plain("x").describe())
        try await gate.reached()
        #expect(world.clock.sleepers == 0)
        world.clock.advance(by: .seconds(100))
        gate.open()
        #expect(try await task.response().attempts == 1)
    }

    @Test func theTimeInWhichATransferIsSuspendedDoesNotCount() async throws {
        let world = world()
        let gate = Gate()
        world.transport.on(.get, "/held", ScriptedAnswer.json("{}").held(by: gate))
        let task = world.agent.start(Plain("held").describe())
        try await gate.reached()
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(4))
        task.suspend()
        #expect(world.clock.sleepers == 0)
        world.clock.advance(by: .seconds(100))
        task.resume()
        // One second is left.
        try await world.clock.untilSleeping()
        world.clock.advance(by: .milliseconds(999))
        #expect(world.clock.sleepers == 1)
        gate.open()
        #expect(try await task.response().attempts == 1)
    }

    @Test func theTransfersOfAnAttemptCountTogether() async throws {
        let world = world { $0.retryPolicy.maximumAttempts = 1 }
        let (first, second) = (Gate(), Gate())
        world.transport.on(
            .get, "/a",
            ScriptedAnswer(status: .found, headers: [.location: "/b"]).held(by: first))
        world.transport.on(.get, "/b", ScriptedAnswer.json("{}").held(by: second))
        let task = world.agent.start(Plain("a").describe())
        try await first.reached()
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(3))
        first.open()
        try await second.reached()
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(2))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .timedOut && error?.timeout == .attempt)
        // The host was asked and did not answer in time.
        let next = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(next?.code == .circuitOpen)
    }

    @Test func theLimitIsOverWithItsAttempt() async throws {
        let world = world()
        #expect(try await world.with(Plain("x")).send().status == 200)
        #expect(world.clock.sleepers == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aLimitThatNothingCanKeepIsAMistake(limit: Duration) async {
        let world = world { $0.retryPolicy.attemptTimeout = limit }
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(world.transport.requests.isEmpty)
    }
}

/// Credentials that come when a gate opens.
private struct Slow: Authenticator {
    let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func apply(to request: inout TransportRequest) async throws { try await gate.passed() }

    func refresh(after response: Response, to request: TransportRequest) async throws -> Bool {
        false
    }
}
