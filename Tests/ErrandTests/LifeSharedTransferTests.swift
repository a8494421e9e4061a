import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct LifeSharedTransferTests {
    private let world = World()
    private let gate = Gate()

    @Test func aRefusedDuplicateDoesNotKeepTheFirstOnesTransferAlive() async throws {
        world.transport.on(.get, "/shared", .silence)
        let first = start(.reject)
        _ = try await world.transport.nextRequest()
        let second = start(.reject)
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .duplicate)
        first.cancel()
        _ = await first.outcome()
        // Nobody is left: the transfer must end.
        try await world.transport.untilIdle()
    }

    @Test func aSuspendedLeaderHoldsNobodyElse() async throws {
        world.transport.on(.get, "/shared", ScriptedAnswer.json(#"{"n":1}"#).held(by: gate))
        let leader = start(.join)
        _ = try await world.transport.nextRequest()
        let follower = start(.join)
        try await untilJoined()
        leader.suspend()
        gate.open()
        #expect(try await follower.response().json["n"].int == 1)
        #expect(follower.progress.current.bytesReceived == 7)
    }

    @Test func aFollowerTakesWhatOnlyTheLeadersValidatorRefused() async throws {
        world.transport.on(.get, "/shared", ScriptedAnswer.json(#"{"n":1}"#).held(by: gate))
        let strict = Joining()
        strict.shape = ["missing": .number]
        let leader = world.agent.start(strict.describe())
        _ = try await world.transport.nextRequest()
        let follower = start(.join)
        try await untilJoined()
        gate.open()
        let error = await #expect(throws: RequestError.self) { try await leader.response() }
        #expect(error?.code == .shapeMismatch)
        #expect(try await follower.response().json["n"].int == 1)
    }

    private func start(_ policy: DuplicatePolicy) -> RequestTask {
        let request = Joining()
        request.policy = policy
        return world.agent.start(request.describe())
    }

    private func untilJoined() async throws {
        try await world.events.until { events in
            events.contains { if case .joined = $0.kind { true } else { false } }
        }
    }
}
