import Errand
import ErrandTesting
import TestSupport
import Testing

final class PrioritizedRequest: BaseRequest {
    let path: String
    let requestPriority: RequestPriority
    init(_ path: String, _ requestPriority: RequestPriority) {
        self.path = path
        self.requestPriority = requestPriority
    }
    override var url: EndpointURL { EndpointURL(raw: path) }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.sending.priority = requestPriority
    }
}

@Suite(.limited) struct SchedulingTests {
    @Test func higherPriorityIsSentFirst() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        let gate = Gate()
        fixture.transport.on(.get, "/first", ScriptedResponse.json("{}").held(by: gate))
        for path in ["/low", "/normal", "/high"] { fixture.transport.on(.get, path, .json("{}")) }
        var tasks = [fixture.agent.start(PrioritizedRequest("first", .normal).makeDescription())]
        _ = try await fixture.transport.nextRequest()
        let queued: [(String, RequestPriority)] = [
            ("low", .low), ("normal", .normal), ("high", .high),
        ]
        for (path, priority) in queued {
            tasks.append(fixture.agent.start(PrioritizedRequest(path, priority).makeDescription()))
            try await fixture.untilQueued(tasks.count - 1)
        }
        gate.open()
        for task in tasks { _ = try await task.response() }
        let paths = fixture.transport.requests.map(\.url.path)
        #expect(paths.first == "/first")
        #expect(paths.firstIndex(of: "/high") ?? 9 < paths.firstIndex(of: "/low") ?? 0)
    }

    @Test func cancellingAQueuedRequestKeepsThePermitCount() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        let gate = Gate()
        fixture.transport.on(.get, "/first", ScriptedResponse.json("{}").held(by: gate))
        fixture.transport.on(.get, "/third", .json("{}"))
        let first = fixture.agent.start(PrioritizedRequest("first", .normal).makeDescription())
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(PrioritizedRequest("second", .normal).makeDescription())
        try await fixture.untilQueued()
        let third = fixture.agent.start(PrioritizedRequest("third", .normal).makeDescription())
        second.cancel()
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await first.response().status == 200)
        #expect(try await third.response().status == 200)
        #expect(fixture.transport.failures.isEmpty)
    }

    @Test func storedResponseIsUsedWhileAnotherRequestHoldsTheOnlyPermit() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        let gate = Gate()
        fixture.transport.on(.get, "/cached", .json("{}"))
        fixture.transport.on(.get, "/first", ScriptedResponse.json("{}").held(by: gate))
        _ = try await fixture.with(CachedRequest()).send()
        let first = fixture.agent.start(PrioritizedRequest("first", .normal).makeDescription())
        try await gate.reached()
        let second = fixture.agent.start(CachedRequest().makeDescription())
        try await fixture.events.until { events in
            events.contains { event in
                guard event.taskID == second.id else { return false }
                if case .ended = event.kind { return true }
                return event.isQueued
            }
        }
        #expect(!fixture.events.names.contains("queued"))
        gate.open()
        #expect(try await second.response().source == .cacheFresh)
        _ = try await first.response()
    }

    @Test func zeroPermitsAreInvalidConfiguration() async {
        let fixture = AgentFixture { $0.limits.total = 0 }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.agent.start(PrioritizedRequest("x", .normal).makeDescription())
                .response()
        }
        #expect(error?.code == .invalidConfiguration)
    }
}
