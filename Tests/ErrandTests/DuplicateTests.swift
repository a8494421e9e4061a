import Errand
import ErrandTesting
import Testing

final class Joining: BaseRequest {
    var policy = DuplicatePolicy.join
    var shape: JSONShape?
    override var url: String { "shared" }
    override var duplicatePolicy: DuplicatePolicy { policy }
    override var validator: JSONShape? { shape }
}

@Suite(.timeLimit(.minutes(5))) struct DuplicateTests {
    private let world = World()
    private let gate = Gate()

    init() {
        world.transport.on(.get, "/shared", ScriptedAnswer.json(#"{"n":1}"#).held(by: gate))
    }

    @Test func joinersShareOneTransfer() async throws {
        let tasks = (0..<5).map { _ in start(Joining()) }
        try await untilJoined(4)
        gate.open()
        for task in tasks { #expect(try await task.response().json["n"].int == 1) }
        #expect(world.transport.requests.count == 1)
    }

    @Test func theLeaderMayLeaveAndTheOthersAreServed() async throws {
        let leader = start(Joining())
        _ = try await world.transport.nextRequest()
        let follower = start(Joining())
        try await untilJoined(1)
        leader.cancel()
        let error = await #expect(throws: RequestError.self) { try await leader.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await follower.response().status == 200)
    }

    @Test func theLastToLeaveCancelsTheTransfer() async throws {
        let leader = start(Joining())
        _ = try await world.transport.nextRequest()
        let follower = start(Joining())
        try await untilJoined(1)
        leader.cancel()
        follower.cancel()
        for task in [leader, follower] {
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .cancelled)
        }
        try await world.transport.untilIdle()
    }

    @Test func eachJoinerHasItsOwnValidator() async throws {
        let strict = Joining()
        strict.shape = ["missing": .number]
        let leader = start(Joining())
        _ = try await world.transport.nextRequest()
        let follower = start(strict)
        try await untilJoined(1)
        gate.open()
        #expect(try await leader.response().status == 200)
        let error = await #expect(throws: RequestError.self) { try await follower.response() }
        #expect(error?.code == .shapeMismatch)
        #expect(error?.shapeFault?.path.description.contains("missing") == true)
    }

    @Test func rejectRefusesTheLaterOneUntilTheFirstEnded() async throws {
        let first = start(rejecting())
        _ = try await world.transport.nextRequest()
        let second = start(rejecting())
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .duplicate)
        gate.open()
        #expect(try await first.response().status == 200)
        #expect(try await start(rejecting()).response().status == 200)
    }

    @Test func cancelPreviousEndsTheEarlierOne() async throws {
        let earlier = start(replacing())
        _ = try await world.transport.nextRequest()
        let later = start(replacing())
        let error = await #expect(throws: RequestError.self) { try await earlier.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await later.response().status == 200)
    }

    private func untilJoined(_ count: Int) async throws {
        try await world.events.until { events in
            events.count { if case .joined = $0.kind { true } else { false } } == count
        }
    }

    private func rejecting() -> Joining {
        let request = Joining()
        request.policy = .reject
        return request
    }

    private func replacing() -> Joining {
        let request = Joining()
        request.policy = .cancelPrevious
        return request
    }

    private func start(_ request: Joining) -> RequestTask {
        world.agent.start(request.describe())
    }
}
