import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Request processors, retry deciders, metadata and user info of endpoints beside those of the configuration.
@Suite(.limited) struct EndpointHookTests {
    private final class Hooked: BaseRequest {
        var decider: RetryDecider?
        var policy: RetryPolicy?
        override var url: EndpointURL { "x" }
        override var retryPolicy: RetryPolicy? { policy }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.sending.retryDecider = decider
            request.requestProcessors += [
                { request, _, attempt in
                    request.headers[.from] =
                        (request.headers[.from] ?? "-") + " endpoint \(attempt)"
                }
            ]
        }
    }

    private enum ScreenKey: RequestMetadataKey { typealias Value = String }
    private enum CountKey: RequestMetadataKey { typealias Value = Int }

    private let busy = ScriptedResponse.json("{}", status: .serviceUnavailable)

    // MARK: - Request processors

    @Test func endpointsProcessorsFollowThoseOfTheConfigurationInEachAttempt() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            $0.requestProcessors = [
                { request, _, _ in request.headers[.from] = "configuration"
                }
            ]
        }
        fixture.transport.on(.get, "/x", busy, .json("{}"))
        try await fixture.with(Hooked()).send()
        #expect(
            fixture.transport.requests.map { $0.headers[.from] } == [
                "configuration endpoint 1", "configuration endpoint 2",
            ])
    }

    @Test func previewIncludesTheEndpointsProcessors() async throws {
        let fixture = AgentFixture()
        let request = try await fixture.agent.transportRequest(for: Hooked().makeDescription())
        #expect(request.headers[.from] == "- endpoint 1")
    }

    // MARK: - Retry deciders

    @Test func endpointsDeciderDecidesFirst() async throws {
        let calls = Mutex<[String]>([])
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 4, baseDelay: .zero)
            $0.retryDecider = { failed in
                calls.withLock { $0.append("configuration \(failed.attempt)") }
                return failed.attempt == 2 ? .giveUp : .asPolicy
            }
        }
        fixture.transport.on(.get, "/x", busy)
        let request = fixture.with(Hooked())
        request.decider = { failed in
            calls.withLock { $0.append("endpoint \(failed.attempt)") }
            return failed.attempt == 1 ? .again(after: .zero) : .asPolicy
        }
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.attempts == 2)
        #expect(calls.withLock { $0 } == ["endpoint 1", "endpoint 2", "configuration 2"])
    }

    @Test func deciderWithoutAPolicyMakesThreeAttempts() async throws {
        let fixture = AgentFixture { $0.retryDecider = { _ in .again(after: .zero) } }
        fixture.transport.on(.get, "/x", busy)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.attempts == RetryPolicy.deciderAttempts && error?.attempts == 3)
        #expect(refusals(fixture) == [.attemptsSpent])
    }

    @Test func policyOfTheEndpointLimitsTheDecider() async throws {
        let fixture = AgentFixture { $0.retryDecider = { _ in .again(after: .zero) } }
        fixture.transport.on(.get, "/x", busy)
        for (policy, attempts) in [(RetryPolicy.none, 1), (.attempts(2), 2), (.attempts(5), 5)] {
            let request = fixture.with(Hooked())
            request.policy = policy
            let error = await #expect(throws: RequestError.self) { try await request.send() }
            #expect(error?.attempts == attempts)
        }
        #expect(refusals(fixture) == [.attemptsSpent, .attemptsSpent, .attemptsSpent])
    }

    @Test func deciderWithoutAVerdictChangesNothing() async throws {
        let fixture = AgentFixture { $0.retryDecider = { _ in .asPolicy } }
        fixture.transport.on(.get, "/x", busy)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.attempts == 1 && refusals(fixture).isEmpty)
    }

    @Test func acceptedStatusIsReportedAndNotRetried() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            $0.retryDecider = { _ in .again(after: .zero) }
        }
        fixture.transport.on(.get, "/x", busy)
        fixture.transport.on(.get, "/y", .json("{}"))
        let accepting = InlineRequest("x") { $0.acceptance.statuses = StatusCodes(200..<600) }
        #expect(try await fixture.with(accepting).send().attempts == 1)
        try await fixture.with(Plain("y")).send()
        #expect(refusals(fixture) == [.acceptedStatus])
        #expect(fixture.transport.requests.count == 2)
    }

    private func refusals(_ fixture: AgentFixture) -> [RetryRefusal] {
        fixture.events.events.compactMap { event in
            if case .retryDeclined(let reason) = event.kind { reason } else { nil }
        }
    }

    // MARK: - Metadata and user info

    @Test func taskAndEventsHaveTheMetadata() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json("{}"))
        let request = Plain("x")
        request.metadata[ScreenKey.self] = "profile"
        let task = fixture.agent.start(request.makeDescription())
        _ = try await task.response()
        #expect(task.metadata[ScreenKey.self] == "profile" && task.metadata[CountKey.self] == nil)
        let events = try await fixture.events.untilEnded()
        #expect(events.allSatisfy { $0.metadata[ScreenKey.self] == "profile" })
        request.metadata[ScreenKey.self] = nil
        #expect(request.metadata.isEmpty && request.makeDescription().metadata.isEmpty)
    }

    @Test func inlineRequestKeepsItsMetadata() {
        let request = InlineRequest("x") { $0.metadata[CountKey.self] = 3 }
        #expect(request.metadata[CountKey.self] == 3)
        #expect(request.makeDescription().metadata[CountKey.self] == 3)
        request.metadata[CountKey.self] = nil
        #expect(request.makeDescription().metadata.isEmpty)
    }

    @Test func sharedMetadataIsBelowTheRequestsOwn() async throws {
        let seen = Mutex<[String]>([])
        let fixture = AgentFixture {
            ($0.metadata["a"], $0.metadata["b"]) = ("shared", "shared")
            $0.requestProcessors = [
                { _, description, _ in
                    let values = ["a", "b", "c"].map { name in
                        "\(name)=\(description.metadata[name] ?? "none")"
                    }
                    seen.withLock { $0 = values }
                }
            ]
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        let request = Plain("x")
        (request.metadata["b"], request.metadata["c"]) = ("own", "own")
        try await fixture.with(request).send()
        #expect(seen.withLock { $0 } == ["a=shared", "b=own", "c=own"])
    }
}
