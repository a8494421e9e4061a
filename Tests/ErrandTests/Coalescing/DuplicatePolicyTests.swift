import Errand
import ErrandTesting
import TestSupport
import Testing

final class JoiningRequest: BaseRequest {
    var policy = RequestDescription.SendingOptions.Duplicates.join
    var shape: JSONShape?
    override var url: EndpointURL { "shared" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.sending.duplicates = policy
    }
    override var validator: JSONShape? { shape }
}

@Suite(.limited) struct DuplicatePolicyTests {
    private let fixture = AgentFixture()
    private let gate = Gate()

    init() {
        fixture.transport.on(.get, "/shared", ScriptedResponse.json(#"{"n":1}"#).held(by: gate))
    }

    @Test func joiningRequestsShareOneTransfer() async throws {
        let tasks = (0..<5).map { _ in start(JoiningRequest()) }
        try await fixture.untilJoined(4)
        gate.open()
        for task in tasks { #expect(try await task.response().json["n"].int == 1) }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func cancellingTheFirstRequestDoesNotCancelTheTransfer() async throws {
        let first = start(JoiningRequest())
        _ = try await fixture.transport.nextRequest()
        let second = start(JoiningRequest())
        try await fixture.untilJoined(1)
        first.cancel()
        let error = await #expect(throws: RequestError.self) { try await first.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await second.response().status == 200)
    }

    @Test func cancellingAllRequestsCancelsTheTransfer() async throws {
        let first = start(JoiningRequest())
        _ = try await fixture.transport.nextRequest()
        let second = start(JoiningRequest())
        try await fixture.untilJoined(1)
        first.cancel()
        second.cancel()
        for task in [first, second] {
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .cancelled)
        }
        try await fixture.transport.untilIdle()
    }

    @Test func eachJoinedRequestUsesItsOwnValidator() async throws {
        let strict = JoiningRequest()
        strict.shape = ["missing": .number]
        let first = start(JoiningRequest())
        _ = try await fixture.transport.nextRequest()
        let second = start(strict)
        try await fixture.untilJoined(1)
        gate.open()
        #expect(try await first.response().status == 200)
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .shapeMismatch)
        #expect(error?.shapeFault?.path.description.contains("missing") == true)
    }

    @Test func rejectFailsASecondRequestUntilTheFirstEnds() async throws {
        let first = start(rejectingRequest())
        _ = try await fixture.transport.nextRequest()
        let second = start(rejectingRequest())
        let error = await #expect(throws: RequestError.self) { try await second.response() }
        #expect(error?.code == .duplicate)
        gate.open()
        #expect(try await first.response().status == 200)
        #expect(try await start(rejectingRequest()).response().status == 200)
    }

    @Test func cancelPreviousCancelsTheEarlierRequest() async throws {
        let earlier = start(replacingRequest())
        _ = try await fixture.transport.nextRequest()
        let later = start(replacingRequest())
        let error = await #expect(throws: RequestError.self) { try await earlier.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await later.response().status == 200)
    }

    private func rejectingRequest() -> JoiningRequest {
        let request = JoiningRequest()
        request.policy = .reject
        return request
    }

    private func replacingRequest() -> JoiningRequest {
        let request = JoiningRequest()
        request.policy = .cancelPrevious
        return request
    }

    private func start(_ request: JoiningRequest) -> RequestTask {
        fixture.agent.start(request.makeDescription())
    }
}
