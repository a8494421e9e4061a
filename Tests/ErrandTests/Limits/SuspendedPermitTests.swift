import Errand
import ErrandTesting
import TestSupport
import Testing

/// A request that is suspended before its transfer holds no concurrency permit.
@Suite(.limited) struct SuspendedPermitTests {
    private let fixture = AgentFixture { $0.limits.total = 1 }
    private let gate = Gate()

    init() {
        fixture.transport.on(nil, nil, .json("{}"))
        fixture.transport.on(.get, "/first", ScriptedResponse.json("{}").held(by: gate))
    }

    private func start(_ path: String) -> RequestTask {
        fixture.agent.start(Plain(path).makeDescription())
    }

    @Test func suspendedRequestDoesNotDelayOthers() async throws {
        let first = start("first")
        try await gate.reached()
        let held = start("held")
        try await fixture.untilQueued(1)
        let other = start("other")
        try await fixture.untilQueued(2)
        held.suspend()
        gate.open()
        #expect(try await first.response().status == .ok)
        #expect(try await other.response().status == .ok)
        #expect(held.phase == .suspended)
        held.resume()
        #expect(try await held.response().status == .ok)
        #expect(fixture.transport.requests.map(\.url.path) == ["/first", "/other", "/held"])
    }

    @Test func cancellingASuspendedRequestKeepsThePermitCount() async throws {
        let first = start("first")
        try await gate.reached()
        let held = start("held")
        try await fixture.untilQueued(1)
        held.suspend()
        gate.open()
        #expect(try await first.response().status == .ok)
        held.cancel()
        let error = await #expect(throws: RequestError.self) { try await held.response() }
        #expect(error?.code == .cancelled)
        // There is still exactly one permit.
        let tasks = (0..<20).map { start("\($0)") }
        for task in tasks { #expect(try await task.response().status == .ok) }
    }
}
