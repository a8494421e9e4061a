import Errand
import ErrandTesting
import Testing

final class Urgent: BaseRequest {
    let path: String
    let urgency: RequestPriority
    init(_ path: String, _ urgency: RequestPriority) {
        self.path = path
        self.urgency = urgency
    }
    override var url: String { path }
    override var priority: RequestPriority { urgency }
}

@Suite(.timeLimit(.minutes(5))) struct SchedulingTests {
    @Test func theMostUrgentGoesFirst() async throws {
        let world = World { $0.maximumRequestsInFlight = 1 }
        let gate = Gate()
        world.transport.on(.get, "/first", ScriptedAnswer.json("{}").held(by: gate))
        for path in ["/low", "/normal", "/high"] { world.transport.on(.get, path, .json("{}")) }
        var tasks = [world.agent.start(Urgent("first", .normal).describe())]
        _ = try await world.transport.nextRequest()
        for (path, urgency) in [("low", RequestPriority.low), ("normal", .normal), ("high", .high)]
        {
            tasks.append(world.agent.start(Urgent(path, urgency).describe()))
            _ = try await world.events.next(where: isQueued)
        }
        gate.open()
        for task in tasks { _ = try await task.response() }
        let paths = world.transport.requests.map(\.url.path)
        #expect(paths.first == "/first")
        #expect(paths.firstIndex(of: "/high") ?? 9 < paths.firstIndex(of: "/low") ?? 0)
    }

    @Test func cancellingAWaitingRequestGivesNoPlaceAway() async throws {
        let world = World { $0.maximumRequestsInFlight = 1 }
        let gate = Gate()
        world.transport.on(.get, "/first", ScriptedAnswer.json("{}").held(by: gate))
        world.transport.on(.get, "/third", .json("{}"))
        let first = world.agent.start(Urgent("first", .normal).describe())
        _ = try await world.transport.nextRequest()
        let second = world.agent.start(Urgent("second", .normal).describe())
        _ = try await world.events.next(where: isQueued)
        let third = world.agent.start(Urgent("third", .normal).describe())
        second.cancel()
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await first.response().status == 200)
        #expect(try await third.response().status == 200)
        #expect(world.transport.failures.isEmpty)
    }

    private let isQueued: @Sendable (RequestEvent) -> Bool = {
        if case .queued = $0.kind { true } else { false }
    }

    @Test func zeroPlacesAreRefused() async {
        let world = World { $0.maximumRequestsInFlight = 0 }
        let error = await #expect(throws: RequestError.self) {
            try await world.agent.start(Urgent("x", .normal).describe()).response()
        }
        #expect(error?.code == .invalidConfiguration)
    }
}
