import Errand
import ErrandTesting
import Testing

/// What a task shows of its life, and tells whoever watches.
@Suite(.timeLimit(.minutes(5))) struct PhaseTests {
    private let gate = Gate()
    private let busy = ScriptedAnswer.json("{}", status: .serviceUnavailable)

    /// An agent whose one place is taken until the gate opens, so that whoever comes can be watched from the start.
    private func world(_ change: (inout Configuration) -> Void = { _ in }) async throws -> World {
        let world = World {
            $0.limits.total = 1
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            change(&$0)
        }
        world.transport.on(nil, nil, .json("{}"))
        world.transport.on(.get, "/first", ScriptedAnswer.json("{}").held(by: gate))
        world.agent.start(Plain("first").describe())
        try await gate.reached()
        return world
    }

    private func all(_ phases: AsyncStream<RequestTask.Phase>) async -> [RequestTask.Phase] {
        var all: [RequestTask.Phase] = []
        for await phase in phases { all.append(phase) }
        return all
    }

    @Test func everyAttemptIsToldAndTheSequenceEndsWithTheTask() async throws {
        let world = try await world()
        var description = Plain("x").describe()
        description.processors = [Passing()]
        world.transport.on(.get, "/x", busy, .json("{}"))
        let task = world.agent.start(description)
        try await world.events.until { $0.contains { "\($0.kind)".hasPrefix("queued") } }
        #expect(task.phase == .waiting)
        let (one, other) = (task.phases, task.phases)
        gate.open()
        let expected: [RequestTask.Phase] = [
            .waiting, .inFlight(attempt: 1), .waiting, .inFlight(attempt: 2), .processing, .ended,
        ]
        #expect(await all(one) == expected)
        #expect(await all(other) == expected)
        #expect(task.phase == .ended)
        // Whoever asks too late hears of the end.
        #expect(await all(task.phases) == [.ended])
    }

    @Test func filtersAreAdapting() async throws {
        let inFilter = Gate()
        let world = World {
            $0.urlFilters = [
                ClosureURLFilter { url, _ in
                    try await inFilter.passed()
                    return url
                }
            ]
        }
        world.transport.on(nil, nil, .json("{}"))
        let task = world.agent.start(Plain("x").describe())
        try await inFilter.reached()
        #expect(task.phase == .adapting)
        let phases = task.phases
        inFilter.open()
        #expect(await all(phases) == [.adapting, .waiting, .inFlight(attempt: 1), .ended])
    }

    @Test func suspendingAndCancellingHideTheStage() async throws {
        let world = try await world()
        let task = world.agent.start(Plain("x").describe())
        try await world.events.until { $0.contains { "\($0.kind)".hasPrefix("queued") } }
        let phases = task.phases
        task.suspend()
        #expect(task.phase == .suspended && !task.phase.isRunning)
        task.resume()
        #expect(task.phase == .waiting)
        task.cancel()
        _ = await task.outcome()
        #expect(await all(phases) == [.waiting, .suspended, .waiting, .cancelling, .ended])
        gate.open()
    }

    @Test func whoeverSharesATransferIsInFlightWithIt() async throws {
        let held = Gate()
        let world = World()
        world.transport.on(nil, nil, ScriptedAnswer.json("{}").held(by: held))
        var description = Plain("x").describe()
        description.duplicatePolicy = .join
        let leader = world.agent.start(description)
        try await held.reached()
        let follower = world.agent.start(description)
        try await world.events.until { $0.contains { "\($0.kind)".hasPrefix("joined") } }
        while follower.phase != .inFlight(attempt: 1) { await Task.yield() }
        #expect(leader.phase == .inFlight(attempt: 1))
        let phases = (leader.phases, follower.phases)
        held.open()
        #expect(await all(phases.0) == [.inFlight(attempt: 1), .ended])
        #expect(await all(phases.1) == [.inFlight(attempt: 1), .ended])
        #expect(world.transport.requests.count == 1)
    }

    /// From many threads at once: in order, each once in a row, the end last.
    @Test func whoeverWatchesWhileMuchHappensHearsTheEndLast() async throws {
        let world = World()
        world.transport.on(nil, nil, .json("{}"))
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    let task = world.agent.start(Plain("x").describe())
                    async let watched = self.all(task.phases)
                    task.suspend()
                    task.resume()
                    let phases = await watched
                    #expect(phases.last == .ended)
                    #expect(zip(phases, phases.dropFirst()).allSatisfy { $0 != $1 })
                }
            }
        }
    }

    private struct Passing: ResponseProcessor {
        func process(_ response: Response, attempt: Int) async throws -> Response { response }
    }
}
