import Errand
import ErrandTesting
import TestSupport
import Testing

/// `RequestTask.phase` and the `phases` sequence.
@Suite(.limited) struct TaskPhaseTests {
    private let gate = Gate()
    private let busy = ScriptedResponse.json("{}", status: .serviceUnavailable)

    /// An agent whose only permit is taken until the gate opens, so that a test can observe the next task early.
    private func fixture(_ change: (inout Configuration) -> Void = { _ in }) async throws
        -> AgentFixture
    {
        let fixture = AgentFixture {
            $0.limits.total = 1
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            change(&$0)
        }
        fixture.transport.on(nil, nil, .json("{}"))
        fixture.transport.on(.get, "/first", ScriptedResponse.json("{}").held(by: gate))
        fixture.agent.start(Plain("first").makeDescription())
        try await gate.reached()
        return fixture
    }

    private func all(_ phases: AsyncStream<RequestTask.Phase>) async -> [RequestTask.Phase] {
        var all: [RequestTask.Phase] = []
        for await phase in phases { all.append(phase) }
        return all
    }

    @Test func phasesIncludeEveryAttemptAndEndWithTheTask() async throws {
        let fixture = try await fixture()
        var description = Plain("x").makeDescription()
        description.responseProcessors = [{ _ in }]
        fixture.transport.on(.get, "/x", busy, .json("{}"))
        let task = fixture.agent.start(description)
        try await fixture.untilQueued()
        #expect(task.phase == .waiting)
        let (one, other) = (task.phases, task.phases)
        gate.open()
        let expected: [RequestTask.Phase] = [
            .waiting, .inFlight(attempt: 1), .waiting, .inFlight(attempt: 2), .processing, .ended,
        ]
        #expect(await all(one) == expected)
        #expect(await all(other) == expected)
        #expect(task.phase == .ended)
        // A sequence that begins after the end holds the last phase.
        #expect(await all(task.phases) == [.ended])
    }

    @Test func providersRunInTheAdaptingPhase() async throws {
        let inProvider = Gate()
        let fixture = AgentFixture {
            $0.headerProvider = {
                try await inProvider.passed()
                return [:]
            }
        }
        fixture.transport.on(nil, nil, .json("{}"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await inProvider.reached()
        #expect(task.phase == .adapting)
        let phases = task.phases
        inProvider.open()
        #expect(await all(phases) == [.adapting, .waiting, .inFlight(attempt: 1), .ended])
    }

    @Test func suspendedAndCancellingReplaceTheCurrentPhase() async throws {
        let fixture = try await fixture()
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.untilQueued()
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

    @Test func joinedRequestIsInFlightWithTheSharedTransfer() async throws {
        let held = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, ScriptedResponse.json("{}").held(by: held))
        var description = Plain("x").makeDescription()
        description.sending.duplicates = .join
        let first = fixture.agent.start(description)
        try await held.reached()
        let second = fixture.agent.start(description)
        try await fixture.untilJoined()
        while second.phase != .inFlight(attempt: 1) { await Task.yield() }
        #expect(first.phase == .inFlight(attempt: 1))
        let phases = (first.phases, second.phases)
        held.open()
        #expect(await all(phases.0) == [.inFlight(attempt: 1), .ended])
        #expect(await all(phases.1) == [.inFlight(attempt: 1), .ended])
        #expect(fixture.transport.requests.count == 1)
    }

    /// Tasks are changed from many threads: no phase repeats, and `ended` comes last.
    @Test func endedIsTheLastPhaseUnderConcurrentChanges() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    let task = fixture.agent.start(Plain("x").makeDescription())
                    async let observed = self.all(task.phases)
                    task.suspend()
                    task.resume()
                    let phases = await observed
                    #expect(phases.last == .ended)
                    #expect(zip(phases, phases.dropFirst()).allSatisfy { $0 != $1 })
                }
            }
        }
    }
}
