import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct SchedulingLimitTests {
    @Test func aWaitingRequestMayBecomeUrgent() async throws {
        let world = World { $0.limits.total = 1 }
        let gate = Gate()
        world.transport.on(nil, nil, .json("{}"))
        world.transport.on(.get, "/first", ScriptedAnswer.json("{}").held(by: gate))
        let first = world.agent.start(Plain("first").describe())
        _ = try await world.transport.nextRequest()
        var waiting: [RequestTask] = []
        for name in ["a", "b", "c"] {
            waiting.append(world.agent.start(Plain(name).describe()))
            try await untilQueued(waiting.count, world)
        }
        waiting[2].priority = .high
        #expect(waiting[2].priority == .high)
        gate.open()
        for task in [first] + waiting { _ = try await task.response() }
        #expect(world.transport.requests.map(\.url.path) == ["/first", "/c", "/a", "/b"])
    }

    @Test func aFullLineRefusesWithAType() async throws {
        let world = World {
            $0.limits.total = 1
            $0.limits.waiting = 1
        }
        world.transport.on(nil, nil, .silence)
        let first = world.agent.start(Plain("first").describe())
        _ = try await world.transport.nextRequest()
        let second = world.agent.start(Plain("second").describe())
        try await untilQueued(1, world)
        let error = await #expect(throws: RequestError.self) {
            try await world.agent.start(Plain("third").describe()).response()
        }
        #expect(error?.code == .queueFull)
        first.cancel()
        second.cancel()
        _ = await (first.outcome(), second.outcome())
    }

    @Test func tenThousandWaitAndAreCancelled() async throws {
        let world = World { $0.limits.total = 1 }
        world.transport.on(nil, nil, .silence)
        let first = world.agent.start(Plain("first").describe())
        _ = try await world.transport.nextRequest()
        let description = Plain("x").describe()
        let tasks = (0..<10_000).map { _ in world.agent.start(description) }
        try await untilQueued(10_000, world)
        // The one with the place comes last: else the next one takes it before its own turn to be cancelled.
        world.agent.cancelAll { $0.id != first.id }
        first.cancel()
        for task in tasks + [first] {
            let error = await task.outcome().result
            guard case .failure(let error) = error, error.isCancellation else {
                Issue.record("one was not cancelled")
                return
            }
        }
        #expect(world.transport.requests.count == 1)
    }

    @Test func theRateOfAHostIsKeptOnTheClock() async throws {
        let world = World { $0.rateLimit = RateLimit(requests: 1, per: .seconds(10)) }
        world.transport.on(nil, nil, .json("{}"))
        try await world.with(Plain("a")).send()
        let second = world.agent.start(Plain("b").describe())
        try await world.clock.untilSleeping()
        #expect(world.transport.requests.count == 1)
        world.clock.advance(by: .seconds(10))
        _ = try await second.response()
        #expect(world.transport.requests.count == 2)
    }

    @Test func aHostThatAsksForSilenceIsLeftInPeace() async throws {
        let world = World { $0.learnsRateLimits = true }
        world.transport.on(
            nil, nil, ScriptedAnswer(status: .tooManyRequests, headers: [.retryAfter: "7"]),
            .json("{}"))
        await #expect(throws: RequestError.self) { try await world.with(Plain("a")).send() }
        let second = world.agent.start(Plain("b").describe())
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(6))
        #expect(world.transport.requests.count == 1)
        world.clock.advance(by: .seconds(1))
        _ = try await second.response()
    }

    @Test func noPlaceIsHeldDuringAPauseBeforeAnotherAttempt() async throws {
        let world = World {
            $0.limits = RequestLimits(total: 1, waiting: 1)
            $0.retryPolicy = .attempts(2)
        }
        world.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable), .json("{}"))
        world.transport.on(.get, "/y", .json("{}"))
        let first = world.agent.start(Plain("x").describe())
        try await world.clock.untilSleeping()
        #expect(try await world.with(Plain("y")).send().status == 200)
        world.clock.advance(by: .seconds(1))
        #expect(try await first.response().attempts == 2)
        #expect(world.events.names.count { $0 == "dequeued" } == 3)
    }

    @Test func whoPausesReturnsBeforeThoseWhoCameLater() async throws {
        let world = World {
            $0.limits.total = 1
            $0.retryPolicy = .attempts(2)
        }
        let gate = Gate()
        world.transport.on(nil, nil, .json("{}"))
        world.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable), .json("{}"))
        world.transport.on(.get, "/held", ScriptedAnswer.json("{}").held(by: gate))
        let first = world.agent.start(Plain("x").describe())
        try await world.clock.untilSleeping()
        let held = world.agent.start(Plain("held").describe())
        try await world.events.until { $0.count { "\($0.kind)".hasPrefix("dequeued") } == 2 }
        let later = world.agent.start(Plain("later").describe())
        try await world.events.until { $0.count { "\($0.kind)".hasPrefix("queued") } == 1 }
        world.clock.advance(by: .seconds(1))
        try await world.events.until { $0.count { "\($0.kind)".hasPrefix("queued") } == 2 }
        gate.open()
        for task in [first, held, later] { _ = try await task.response() }
        #expect(world.transport.requests.map(\.url.path) == ["/x", "/held", "/x", "/later"])
    }

    @Test func noPlaceIsHeldWhileAHostIsLeftInPeace() async throws {
        let world = World {
            $0.limits.total = 1
            $0.hostRateLimits = ["slow.example": RateLimit(requests: 1, per: .seconds(10))]
        }
        world.transport.on(nil, nil, .json("{}"))
        try await world.with(Plain("https://slow.example/a")).send()
        let second = world.agent.start(Plain("https://slow.example/b").describe())
        try await world.clock.untilSleeping()
        #expect(try await world.with(Plain("y")).send().status == 200)
        world.clock.advance(by: .seconds(10))
        #expect(try await second.response().status == 200)
    }

    @Test func aTagHasARateOfItsOwnWhateverTheHost() async throws {
        let world = World { $0.tagRateLimits = [7: RateLimit(requests: 1, per: .seconds(10))] }
        world.transport.on(nil, nil, .json("{}"))
        func tagged(_ host: String, _ tag: Int = 7) -> RequestDescription {
            var description = Plain("https://\(host).example/x").describe()
            description.tag = tag
            return description
        }
        _ = try await world.agent.start(tagged("a")).response()
        let second = world.agent.start(tagged("b"))
        try await world.clock.untilSleeping()
        _ = try await world.agent.start(tagged("b", 8)).response()
        #expect(world.transport.requests.count == 2)
        // Who gives up gives its turn back.
        second.cancel()
        _ = await second.outcome()
        let third = world.agent.start(tagged("c"))
        try await world.clock.untilSleeping()
        world.clock.advance(by: .milliseconds(9999))
        #expect(world.transport.requests.count == 2)
        world.clock.advance(by: .milliseconds(1))
        #expect(try await third.response().status == 200)
        world.agent.configuration.tagRateLimits = [7: RateLimit(requests: 0, per: .seconds(1))]
        let error = await #expect(throws: RequestError.self) {
            try await world.agent.start(tagged("d")).response()
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func cancellingDuringThePauseGivesNoPlaceAway() async throws {
        let world = World {
            $0.limits.total = 1
            $0.retryPolicy = .attempts(2)
        }
        world.transport.on(nil, nil, .json("{}"))
        world.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        for _ in 0..<3 {
            let task = world.agent.start(Plain("x").describe())
            try await world.clock.untilSleeping()
            task.cancel()
            _ = await task.outcome()
        }
        // One place, neither lost nor doubled.
        let gate = Gate()
        world.transport.on(.get, "/held", ScriptedAnswer.json("{}").held(by: gate))
        let held = world.agent.start(Plain("held").describe())
        try await world.events.until { $0.count { "\($0.kind)".hasPrefix("dequeued") } == 4 }
        let next = world.agent.start(Plain("next").describe())
        try await world.events.until { $0.contains { "\($0.kind)".hasPrefix("queued") } }
        gate.open()
        _ = try await (held.response(), next.response())
    }

    private func untilQueued(_ count: Int, _ world: World) async throws {
        _ = try await world.events.next { if case .queued = $0.kind { true } else { false } }
        for _ in 1..<max(count, 1) where count == 10_000 {
            _ = try await world.events.next { if case .queued = $0.kind { true } else { false } }
        }
    }
}
