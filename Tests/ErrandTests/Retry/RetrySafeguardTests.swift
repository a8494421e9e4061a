import Errand
import ErrandTesting
import HTTPTypes
import TestSupport
import Testing

@Suite(.limited) struct RetrySafeguardTests {
    private let busy = ScriptedResponse.json("{}", status: .serviceUnavailable)

    @Test func timedOutAttemptIsRetried() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 2, baseDelay: .zero, attemptTimeout: .seconds(3))
        }
        fixture.transport.on(.get, "/x", .silence, .json("{}"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.transport.nextRequest()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(3))
        #expect(try await task.response().attempts == 2)
    }

    @Test func timedOutLastAttemptReportsTheAttemptTimeout() async throws {
        let fixture = AgentFixture { $0.retryPolicy = RetryPolicy(attemptTimeout: .seconds(3)) }
        fixture.transport.on(.get, "/x", .silence)
        let task = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.transport.nextRequest()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(3))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .timedOut && error?.timeout == .attempt)
        try await fixture.transport.untilIdle()
    }

    @Test func allAttemptsSendTheSameIdempotencyKey() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 3, baseDelay: .zero, sendsIdempotencyKey: true)
        }
        fixture.transport.on(.post, "/post", busy, busy, .json("{}"))
        fixture.transport.on(.get, "/get", .json("{}"))
        try await fixture.with(PostRequest()).send()
        try await fixture.with(Plain("get")).send()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let keys = fixture.transport.requests.map { $0.headers[name] }
        #expect(keys.count == 4 && keys[0] != nil && keys[0] == keys[1] && keys[1] == keys[2])
        #expect(keys[3] == nil)
    }

    @Test func exhaustedRetryBudgetStopsRetries() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 10, baseDelay: .zero)
            $0.retryBudget = RetryBudget(ratio: 0, reserve: 3)
        }
        fixture.transport.on(.get, "/x", busy)
        for _ in 0..<2 {
            await #expect(throws: RequestError.self) { try await fixture.with(Plain("x")).send() }
        }
        #expect(fixture.transport.requests.count == 5)
        #expect(fixture.events.names.contains("retryBudgetSpent"))
    }

    @Test func openCircuitSendsNothingUntilItsPauseEnds() async throws {
        let fixture = AgentFixture {
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 2, pause: .seconds(30))
        }
        fixture.transport.on(.get, "/x", busy, busy, .json("{}"))
        for _ in 0..<2 {
            await #expect(throws: RequestError.self) { try await fixture.with(Plain("x")).send() }
        }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .circuitOpen)
        #expect(error?.message.contains("another 30 s") == true)
        #expect(fixture.transport.requests.count == 2)
        fixture.clock.advance(by: .seconds(30))
        #expect(try await fixture.with(Plain("x")).send().status == 200)
    }

    /// A request whose own attempts open the circuit fails with the error of its last attempt as the cause.
    @Test func circuitOpenErrorKeepsThePreviousFailure() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 2, pause: .milliseconds(1500))
        }
        fixture.transport.on(.get, "/x", busy)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .circuitOpen && error?.attempts == 2)
        #expect(error?.message.contains("another 2 s") == true)
        #expect((error?.underlying as? RequestError)?.status == 503)
    }

    @Test func suspendedProbeDoesNotKeepTheCircuitOpen() async throws {
        let fixture = AgentFixture {
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 1, pause: .seconds(30))
        }
        let gate = Gate()
        fixture.transport.on(.get, "/x", .json("{}"))
        fixture.transport.on(.get, "/busy", busy)
        fixture.transport.on(.get, "/held", ScriptedResponse.json("{}").held(by: gate))
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("busy")).send() }
        fixture.clock.advance(by: .seconds(30))
        let probe = fixture.agent.start(Plain("held").makeDescription())
        try await gate.reached()
        probe.suspend()
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .circuitOpen && error?.message.contains("30 s") == true)
        fixture.clock.advance(by: .seconds(30))
        #expect(try await fixture.with(Plain("x")).send().status == 200)
        probe.cancel()
        _ = await probe.outcome()
    }

    @Test func errorsNotCausedByTheHostLeaveTheCircuitClosed() async throws {
        let fixture = AgentFixture { $0.circuitBreaker = CircuitBreakerPolicy(failures: 1) }
        for code in [
            RequestError.Code.unsupported, .bodyTooLarge, .pinMismatch, .certificateRejected,
            .bodyReadFailed, .invalidBody,
        ] {
            fixture.transport.on(.get, "/x", .failure(RequestError(code, stage: .transport, "no")))
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(Plain("x")).send()
            }
            #expect(error?.code == code)
        }
        fixture.transport.on(
            .get, "/x", ScriptedResponse(status: .found, headers: [.location: "ftp://a.example/"]))
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("x")).send() }
        fixture.transport.on(.get, "/x", .json("{}"))
        #expect(try await fixture.with(Plain("x")).send().status == 200)
    }

    @Test func retryDeciderOverridesThePolicy() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            $0.retryDecider = { failed in
                failed.error.status == 404 ? .again(after: .zero) : .giveUp
            }
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .notFound), .json("{}"))
        fixture.transport.on(.get, "/y", busy)
        #expect(try await fixture.with(Plain("x")).send().attempts == 2)
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("y")).send() }
        #expect(fixture.transport.requests.count == 3)
    }
}
