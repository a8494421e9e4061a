import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Each request that shares a transfer keeps its own serializer, validators, priority and events.
@Suite(.limited) struct SharedTransferSettingsTests {
    private final class SharingRequest: BaseRequest {
        var format = RequestDescription.Acceptance.Format.json
        var businessRule: ResponseRule?
        var requestPriority = RequestPriority.normal
        var keys: JSONOptions.Keys?
        override var url: EndpointURL { "shared" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.keys = keys
            request.sending.duplicates = .join
            request.acceptance.format = format
            request.acceptance.contentTypes = ["*/*"]
            request.acceptance.rules += businessRule.map { [$0] } ?? []
            request.sending.priority = requestPriority
        }
    }

    private let gate = Gate()

    /// The outcomes of two requests that share a transfer, in the order in which they start.
    private func results(
        of response: ScriptedResponse, _ change: (SharingRequest, SharingRequest) -> Void
    ) async throws -> [Result<Response, RequestError>] {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/shared", response.held(by: gate))
        let endpoints = (SharingRequest(), SharingRequest())
        change(endpoints.0, endpoints.1)
        let first = fixture.agent.start(endpoints.0.makeDescription())
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(endpoints.1.makeDescription())
        try await fixture.untilJoined()
        gate.open()
        var results: [Result<Response, RequestError>] = []
        for task in [first, second] {
            do {
                results.append(.success(try await task.response()))
            } catch {
                results.append(.failure(error))
            }
        }
        #expect(fixture.transport.requests.count == 1)
        return results
    }

    /// The error codes of two requests that share a transfer, in the order in which they start.
    private func outcomes(
        of response: ScriptedResponse, _ change: (SharingRequest, SharingRequest) -> Void
    ) async throws -> [RequestError.Code?] {
        try await results(of: response, change).map {
            if case .failure(let error) = $0 { error.code } else { nil }
        }
    }

    private struct Named: Decodable { let firstName: String }

    /// Its name is found only without a key strategy.
    private struct Raw: Decodable {
        enum CodingKeys: String, CodingKey { case firstName = "first_name" }
        let firstName: String
    }

    /// Also if the first request rejects the response.
    @Test(arguments: [false, true], [false, true])
    func eachRequestDecodesWithItsOwnDecoder(
        isFirstRejected: Bool, hasFirstTheStrategy: Bool
    ) async throws {
        let results = try await results(of: .json(#"{"first_name":"a"}"#)) { first, second in
            if isFirstRejected {
                first.businessRule = ResponseRule { _ in
                    .reject(RequestError(.rejected, stage: .process, "Sold out."))
                }
            }
            (hasFirstTheStrategy ? first : second).keys = .snakeCase
        }
        for (index, result) in results.enumerated() {
            if index == 0 && isFirstRejected { continue }
            let response = try result.get()
            let name =
                (index == 0) == hasFirstTheStrategy
                ? try response.decode(Named.self).firstName
                : try response.decode(Raw.self).firstName
            #expect(name == "a")
        }
    }

    @Test func firstRequestsSerializerDoesNotAffectTheSecond() async throws {
        let codes = try await outcomes(of: .json("no json")) { $1.format = .text }
        #expect(codes == [.undecodable, nil])
    }

    @Test func secondRequestsSerializerDoesNotAffectTheFirst() async throws {
        let codes = try await outcomes(of: .json("no json")) { first, _ in
            first.format = .text
        }
        #expect(codes == [nil, .undecodable])
    }

    @Test func firstRequestsRejectionDoesNotAffectTheSecond() async throws {
        let codes = try await outcomes(of: .json("{}")) { first, _ in
            first.businessRule = ResponseRule { _ in
                .reject(RequestError(.rejected, stage: .process, "Sold out."))
            }
        }
        #expect(codes == [.rejected, nil])
    }

    @Test func transportFailureReachesAllJoinedRequests() async throws {
        let lost = RequestError(.connectionLost, stage: .transport, "Gone.")
        let codes = try await outcomes(of: .failure(lost)) { $1.format = .text }
        #expect(codes == [.connectionLost, .connectionLost])
    }

    enum Change: CaseIterable { case none, urgentJoins, priorityRises, urgentLeaves }

    /// The only permit is taken.
    ///
    /// The shared transfer waits with low priority, another request with normal.
    @Test(arguments: Change.allCases) func highestPriorityOfTheJoinedRequestsDecidesTheOrder(
        _ change: Change
    ) async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        fixture.transport.on(.get, "/first", ScriptedResponse.json("{}").held(by: gate))
        fixture.transport.on(.get, "/shared", .json("{}"))
        fixture.transport.on(.get, "/other", .json("{}"))
        var tasks = [fixture.agent.start(Plain("first").makeDescription())]
        _ = try await fixture.transport.nextRequest()
        let first = SharingRequest()
        first.requestPriority = .low
        tasks.append(fixture.agent.start(first.makeDescription()))
        try await fixture.untilQueued(1)
        tasks.append(fixture.agent.start(Plain("other").makeDescription()))
        try await fixture.untilQueued(2)
        let second = SharingRequest()
        second.requestPriority = change == .urgentJoins || change == .urgentLeaves ? .high : .low
        let joined = fixture.agent.start(second.makeDescription())
        try await fixture.untilJoined()
        switch change {
        case .none, .urgentJoins: break
        case .priorityRises: joined.priority = .high
        case .urgentLeaves:
            joined.cancel()
            await joined.untilEnded()
        }
        gate.open()
        for task in tasks { _ = try await task.response() }
        let paths = fixture.transport.requests.map(\.url.path)
        let isEarly = change == .urgentJoins || change == .priorityRises
        #expect(
            paths == (isEarly ? ["/first", "/shared", "/other"] : ["/first", "/other", "/shared"]))
    }

    @Test func remainingRequestReceivesTheTransferEvents() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/shared", ScriptedResponse.json("{}").held(by: gate))
        let first = fixture.agent.start(SharingRequest().makeDescription())
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(SharingRequest().makeDescription())
        try await fixture.untilJoined()
        first.cancel()
        await first.untilEnded()
        gate.open()
        _ = try await second.response()
        func names(_ task: RequestTask) -> [String] {
            fixture.events.events.filter { $0.taskID == task.id }.map {
                String(String(describing: $0.kind).prefix { $0 != "(" })
            }
        }
        try await fixture.events.until { events in
            events.contains {
                guard case .ended = $0.kind else { return false }
                return $0.taskID == second.id
            }
        }
        let received = names(second)
        for name in ["joined", "headReceived", "transferEnded", "validated", "attemptEnded"] {
            #expect(received.contains(name), "\(received)")
        }
        #expect(received.last == "ended")
        #expect(names(first).last == "ended" && !names(first).contains("transferEnded"))
    }
}
