import Errand
import ErrandTesting
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(5))) struct RetryGuardTests {
    private let busy = ScriptedAnswer.json("{}", status: .serviceUnavailable)

    @Test func anAttemptThatTakesTooLongIsFollowedByAnother() async throws {
        let world = World {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 2, baseDelay: .zero, attemptTimeout: .seconds(3))
        }
        world.transport.on(.get, "/x", .silence, .json("{}"))
        let task = world.agent.start(Plain("x").describe())
        _ = try await world.transport.nextRequest()
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(3))
        #expect(try await task.response().attempts == 2)
    }

    @Test func theLastAttemptThatTakesTooLongSaysSo() async throws {
        let world = World { $0.retryPolicy = RetryPolicy(attemptTimeout: .seconds(3)) }
        world.transport.on(.get, "/x", .silence)
        let task = world.agent.start(Plain("x").describe())
        _ = try await world.transport.nextRequest()
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(3))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .timedOut && error?.timeout == .attempt)
        try await world.transport.untilIdle()
    }

    @Test func everyAttemptCarriesTheSameIdempotencyKey() async throws {
        let world = World {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 3, baseDelay: .zero, sendsIdempotencyKey: true)
        }
        world.transport.on(.post, "/post", busy, busy, .json("{}"))
        world.transport.on(.get, "/get", .json("{}"))
        try await world.with(Posting()).send()
        try await world.with(Plain("get")).send()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let keys = world.transport.requests.map { $0.headers[name] }
        #expect(keys.count == 4 && keys[0] != nil && keys[0] == keys[1] && keys[1] == keys[2])
        #expect(keys[3] == nil)
    }

    @Test func aSpentBudgetStopsRetries() async throws {
        let world = World {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 10, baseDelay: .zero)
            $0.retryBudget = RetryBudget(ratio: 0, reserve: 3)
        }
        world.transport.on(.get, "/x", busy)
        for _ in 0..<2 {
            await #expect(throws: RequestError.self) { try await world.with(Plain("x")).send() }
        }
        #expect(world.transport.requests.count == 5)
        #expect(world.events.names.contains("retryBudgetSpent"))
    }

    @Test func anOpenCircuitSendsNothingUntilItsPauseIsOver() async throws {
        let world = World {
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 2, pause: .seconds(30))
        }
        world.transport.on(.get, "/x", busy, busy, .json("{}"))
        for _ in 0..<2 {
            await #expect(throws: RequestError.self) { try await world.with(Plain("x")).send() }
        }
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .circuitOpen)
        #expect(error?.message.contains("another 30 s") == true)
        #expect(world.transport.requests.count == 2)
        world.clock.advance(by: .seconds(30))
        #expect(try await world.with(Plain("x")).send().status == 200)
    }

    /// Whose own attempts open the circuit hears of what they failed with.
    @Test func aCircuitThatOpensBetweenAttemptsKeepsTheReason() async throws {
        let world = World {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 2, pause: .milliseconds(1500))
        }
        world.transport.on(.get, "/x", busy)
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .circuitOpen && error?.attempts == 2)
        #expect(error?.message.contains("another 2 s") == true)
        #expect((error?.underlying as? RequestError)?.status == 503)
    }

    @Test func theDeciderHasTheFirstWord() async throws {
        let world = World {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            $0.retryDecider = { failed in
                failed.error.status == 404 ? .again(after: .zero) : .giveUp
            }
        }
        world.transport.on(.get, "/x", .json("{}", status: .notFound), .json("{}"))
        world.transport.on(.get, "/y", busy)
        #expect(try await world.with(Plain("x")).send().attempts == 2)
        await #expect(throws: RequestError.self) { try await world.with(Plain("y")).send() }
        #expect(world.transport.requests.count == 3)
    }
}
