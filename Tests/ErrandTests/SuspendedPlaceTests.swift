import Errand
import ErrandTesting
import Testing

/// Who is suspended before its transfer stands in nobody's way.
@Suite(.timeLimit(.minutes(5))) struct SuspendedPlaceTests {
    private let world = World { $0.limits.total = 1 }
    private let gate = Gate()

    init() {
        world.transport.on(nil, nil, .json("{}"))
        world.transport.on(.get, "/first", ScriptedAnswer.json("{}").held(by: gate))
    }

    private func start(_ path: String) -> RequestTask {
        world.agent.start(Plain(path).describe())
    }

    private func untilQueued(_ count: Int) async throws {
        try await world.events.until { events in
            events.count { if case .queued = $0.kind { true } else { false } } == count
        }
    }

    @Test func theOthersGoOn() async throws {
        let first = start("first")
        try await gate.reached()
        let held = start("held")
        try await untilQueued(1)
        let other = start("other")
        try await untilQueued(2)
        held.suspend()
        gate.open()
        #expect(try await first.response().status == .ok)
        #expect(try await other.response().status == .ok)
        #expect(held.phase == .suspended)
        held.resume()
        #expect(try await held.response().status == .ok)
        #expect(world.transport.requests.map(\.url.path) == ["/first", "/other", "/held"])
    }

    @Test func cancellingItEndsItAndGivesNothingAway() async throws {
        let first = start("first")
        try await gate.reached()
        let held = start("held")
        try await untilQueued(1)
        held.suspend()
        gate.open()
        #expect(try await first.response().status == .ok)
        held.cancel()
        let error = await #expect(throws: RequestError.self) { try await held.response() }
        #expect(error?.code == .cancelled)
        // Still one at a time.
        let tasks = (0..<20).map { start("\($0)") }
        for task in tasks { #expect(try await task.response().status == .ok) }
    }
}
