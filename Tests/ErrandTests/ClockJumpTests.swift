import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// Somebody sets the date while requests wait: pauses are measured by the time since, not by the date.
@Suite(.timeLimit(.minutes(5))) struct ClockJumpTests {
    private let longAgo = Date(timeIntervalSince1970: 0)
    private let farAhead = Date(timeIntervalSince1970: 5_000_000_000)

    @Test func aPauseBetweenAttemptsDoesNotChange() async throws {
        let world = World { $0.retryPolicy = .attempts(2) }
        let busy = ScriptedAnswer(status: .serviceUnavailable, headers: [.retryAfter: "20"])
        world.transport.on(nil, nil, busy, .json("{}"))
        let task = world.agent.start(Plain("x").describe())
        try await world.clock.untilSleeping()
        world.clock.setNow(farAhead)
        world.clock.advance(by: .seconds(19))
        world.clock.setNow(longAgo)
        #expect(world.transport.requests.count == 1)
        world.clock.advance(by: .seconds(1))
        #expect(try await task.response().attempts == 2)
    }

    @Test func aDateThatTheClockMakesAbsurdEndsTheRequestInsteadOfHoldingIt() async throws {
        let world = World { $0.retryPolicy = .attempts(3) }
        world.clock.setNow(longAgo)
        let busy = ScriptedAnswer(
            status: .serviceUnavailable,
            headers: [.retryAfter: "Tue, 01 Jan 2030 00:00:05 GMT"])
        world.transport.on(nil, nil, busy)
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.status == 503 && error?.attempts == 1)
        // The other way round it is no pause at all.
        world.clock.setNow(farAhead)
        world.transport.on(nil, nil, busy, .json("{}"))
        #expect(try await world.with(Plain("x")).send().attempts == 2)
    }

    @Test func ratesCircuitsAndLimitsRunOn() async throws {
        let world = World {
            $0.rateLimit = RateLimit(requests: 1, per: .seconds(10))
            $0.timeouts.total = .seconds(60)
        }
        world.transport.on(nil, nil, .json("{}"))
        try await world.with(Plain("a")).send()
        let second = world.agent.start(Plain("b").describe())
        // Its turn, and its time limit.
        try await world.clock.untilSleeping(2)
        world.clock.setNow(farAhead)
        world.clock.setNow(longAgo)
        #expect(second.phase == .waiting && world.transport.requests.count == 1)
        world.clock.advance(by: .seconds(10))
        #expect(try await second.response().status == 200)
    }
}

/// `.seconds(Int64.max)` is how many write "no limit".
@Suite(.timeLimit(.minutes(5))) struct EndlessDurationTests {
    @Test func limitsAndPausesWithoutEndAreNoFault() async throws {
        let transport = ScriptedTransport()
        transport.on(
            nil, nil, ScriptedAnswer(status: .serviceUnavailable, headers: [.retryAfter: "0"]),
            .json("{}"))
        let forever = Duration.seconds(Int64.max)
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.timeouts = Timeouts(connect: forever, idle: forever, total: forever)
        configuration.retryPolicy = RetryPolicy(
            maximumAttempts: 2, maximumDelay: forever, attemptTimeout: forever)
        let agent = RequestAgent(configuration: configuration, transport: transport, store: nil)
        let request = Plain("x")
        request.agent = agent
        #expect(try await request.send().attempts == 2)
    }

    @Test func theSystemsClockSleepsHoweverLongIsAsked() async throws {
        let sleeper = Task { try await SystemClock().sleep(for: .seconds(Int64.max)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
