import Errand
import ErrandTesting
import TestSupport
import Testing

@Suite(.limited) struct SharedTransferTests {
    private let fixture = AgentFixture()
    private let gate = Gate()

    @Test func rejectedDuplicateDoesNotKeepTheTransferAlive() async throws {
        fixture.transport.on(.get, "/shared", .silence)
        let first = start(.reject)
        _ = try await fixture.transport.nextRequest()
        let second = start(.reject)
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .duplicate)
        first.cancel()
        _ = await first.outcome()
        // No request needs the transfer any more: it must end.
        try await fixture.transport.untilIdle()
    }

    @Test func suspendedFirstRequestDoesNotDelayTheOthers() async throws {
        fixture.transport.on(.get, "/shared", ScriptedResponse.json(#"{"n":1}"#).held(by: gate))
        let first = start(.join)
        _ = try await fixture.transport.nextRequest()
        let second = start(.join)
        try await fixture.untilJoined()
        first.suspend()
        gate.open()
        #expect(try await second.response().json["n"].int == 1)
        #expect(second.progress.current.bytesReceived == 7)
    }

    @Test func joinedRequestSucceedsWhenOnlyTheFirstsValidatorFails() async throws {
        fixture.transport.on(.get, "/shared", ScriptedResponse.json(#"{"n":1}"#).held(by: gate))
        let strict = JoiningRequest()
        strict.shape = ["missing": .number]
        let first = fixture.agent.start(strict.makeDescription())
        _ = try await fixture.transport.nextRequest()
        let second = start(.join)
        try await fixture.untilJoined()
        gate.open()
        let error = await #expect(throws: RequestError.self) { try await first.response() }
        #expect(error?.code == .shapeMismatch)
        #expect(try await second.response().json["n"].int == 1)
    }

    private func start(_ policy: RequestDescription.SendingOptions.Duplicates) -> RequestTask {
        let request = JoiningRequest()
        request.policy = policy
        return fixture.agent.start(request.makeDescription())
    }
}
