import Errand
import ErrandTesting
import TestSupport
import Testing

@Suite(.limited) struct SchedulingLimitTests {
    @Test func raisedPriorityReordersTheQueue() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        let gate = Gate()
        fixture.transport.on(nil, nil, .json("{}"))
        fixture.transport.on(.get, "/first", ScriptedResponse.json("{}").held(by: gate))
        let first = fixture.agent.start(Plain("first").makeDescription())
        _ = try await fixture.transport.nextRequest()
        var waiting: [RequestTask] = []
        for name in ["a", "b", "c"] {
            waiting.append(fixture.agent.start(Plain(name).makeDescription()))
            try await fixture.untilQueued(waiting.count)
        }
        waiting[2].priority = .high
        #expect(waiting[2].priority == .high)
        gate.open()
        for task in [first] + waiting { _ = try await task.response() }
        #expect(fixture.transport.requests.map(\.url.path) == ["/first", "/c", "/a", "/b"])
    }

    @Test func fullQueueFailsWithQueueFull() async throws {
        let fixture = AgentFixture {
            $0.limits.total = 1
            $0.limits.waiting = 1
        }
        fixture.transport.on(nil, nil, .silence)
        let first = fixture.agent.start(Plain("first").makeDescription())
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(Plain("second").makeDescription())
        try await fixture.untilQueued(1)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.agent.start(Plain("third").makeDescription()).response()
        }
        #expect(error?.code == .queueFull)
        first.cancel()
        second.cancel()
        _ = await (first.outcome(), second.outcome())
    }

    @Test func tenThousandQueuedRequestsAreCancelled() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        fixture.transport.on(nil, nil, .silence)
        let first = fixture.agent.start(Plain("first").makeDescription())
        _ = try await fixture.transport.nextRequest()
        let description = Plain("x").makeDescription()
        let tasks = (0..<10_000).map { _ in fixture.agent.start(description) }
        for _ in tasks { _ = try await fixture.events.next { $0.isQueued } }
        // Cancel the task that holds the permit last: otherwise a waiting task takes the permit before it is cancelled.
        fixture.agent.cancelAll { $0.id != first.id }
        first.cancel()
        for task in tasks + [first] {
            let error = await task.outcome().result
            guard case .failure(let error) = error, error.isCancellation else {
                Issue.record("a task was not cancelled")
                return
            }
        }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func rateLimitDelaysTheNextRequest() async throws {
        let fixture = AgentFixture { $0.rateLimit = RateLimit(requests: 1, per: .seconds(10)) }
        fixture.transport.on(nil, nil, .json("{}"))
        try await fixture.with(Plain("a")).send()
        let second = fixture.agent.start(Plain("b").makeDescription())
        try await fixture.clock.untilSleeping()
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(10))
        _ = try await second.response()
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func learnedRetryAfterDelaysTheHost() async throws {
        let fixture = AgentFixture { $0.learnsRateLimits = true }
        fixture.transport.on(
            nil, nil, ScriptedResponse(status: .tooManyRequests, headers: [.retryAfter: "7"]),
            .json("{}"))
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("a")).send() }
        let second = fixture.agent.start(Plain("b").makeDescription())
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(6))
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(1))
        _ = try await second.response()
    }

    @Test func permitIsReleasedDuringARetryDelay() async throws {
        let fixture = AgentFixture {
            $0.limits = RequestLimits(total: 1, waiting: 1)
            $0.retryPolicy = .attempts(2)
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable), .json("{}"))
        fixture.transport.on(.get, "/y", .json("{}"))
        let first = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.clock.untilSleeping()
        #expect(try await fixture.with(Plain("y")).send().status == 200)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await first.response().attempts == 2)
        #expect(fixture.events.names.count { $0 == "dequeued" } == 3)
    }

    @Test func retryIsQueuedBeforeLaterRequests() async throws {
        let fixture = AgentFixture {
            $0.limits.total = 1
            $0.retryPolicy = .attempts(2)
        }
        let gate = Gate()
        fixture.transport.on(nil, nil, .json("{}"))
        fixture.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable), .json("{}"))
        fixture.transport.on(.get, "/held", ScriptedResponse.json("{}").held(by: gate))
        let first = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.clock.untilSleeping()
        let held = fixture.agent.start(Plain("held").makeDescription())
        try await fixture.events.until { $0.count { "\($0.kind)".hasPrefix("dequeued") } == 2 }
        let later = fixture.agent.start(Plain("later").makeDescription())
        try await fixture.untilQueued(1)
        fixture.clock.advance(by: .seconds(1))
        try await fixture.untilQueued(2)
        gate.open()
        for task in [first, held, later] { _ = try await task.response() }
        #expect(fixture.transport.requests.map(\.url.path) == ["/x", "/held", "/x", "/later"])
    }

    @Test func permitIsNotHeldDuringARateLimitDelay() async throws {
        let fixture = AgentFixture {
            $0.limits.total = 1
            $0.hostRateLimits = ["slow.example": RateLimit(requests: 1, per: .seconds(10))]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        try await fixture.with(Plain("https://slow.example/a")).send()
        let second = fixture.agent.start(Plain("https://slow.example/b").makeDescription())
        try await fixture.clock.untilSleeping()
        #expect(try await fixture.with(Plain("y")).send().status == 200)
        fixture.clock.advance(by: .seconds(10))
        #expect(try await second.response().status == 200)
    }

    @Test func tagRateLimitAppliesAcrossHosts() async throws {
        let fixture = AgentFixture {
            $0.tagRateLimits = [7: RateLimit(requests: 1, per: .seconds(10))]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        func tagged(_ host: String, _ tag: Int = 7) -> RequestDescription {
            var description = Plain("https://\(host).example/x").makeDescription()
            description.tag = tag
            return description
        }
        _ = try await fixture.agent.start(tagged("a")).response()
        let second = fixture.agent.start(tagged("b"))
        try await fixture.clock.untilSleeping()
        _ = try await fixture.agent.start(tagged("b", 8)).response()
        #expect(fixture.transport.requests.count == 2)
        // A cancelled request returns its reservation.
        second.cancel()
        _ = await second.outcome()
        let third = fixture.agent.start(tagged("c"))
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .milliseconds(9999))
        #expect(fixture.transport.requests.count == 2)
        fixture.clock.advance(by: .milliseconds(1))
        #expect(try await third.response().status == 200)
        fixture.agent.configuration.tagRateLimits = [7: RateLimit(requests: 0, per: .seconds(1))]
        let error = await #expect(throws: RequestError.self) {
            try await fixture.agent.start(tagged("d")).response()
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func cancellingDuringARetryDelayKeepsThePermitCount() async throws {
        let fixture = AgentFixture {
            $0.limits.total = 1
            $0.retryPolicy = .attempts(2)
        }
        fixture.transport.on(nil, nil, .json("{}"))
        fixture.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        for _ in 0..<3 {
            let task = fixture.agent.start(Plain("x").makeDescription())
            try await fixture.clock.untilSleeping()
            task.cancel()
            _ = await task.outcome()
        }
        // There is still exactly one permit.
        let gate = Gate()
        fixture.transport.on(.get, "/held", ScriptedResponse.json("{}").held(by: gate))
        let held = fixture.agent.start(Plain("held").makeDescription())
        try await fixture.events.until { $0.count { "\($0.kind)".hasPrefix("dequeued") } == 4 }
        let next = fixture.agent.start(Plain("next").makeDescription())
        try await fixture.untilQueued()
        gate.open()
        _ = try await (held.response(), next.response())
    }
}
