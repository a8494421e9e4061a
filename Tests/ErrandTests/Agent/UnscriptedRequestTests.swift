import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A request for which a `ScriptedTransport` has no response fails, whatever the agent does about other failures.
@Suite(.limited) struct UnscriptedRequestTests {
    private let policy = RetryPolicy(
        maximumAttempts: 3, baseDelay: .zero, retriesNonIdempotent: true)

    @Test(arguments: [HTTPMethod.get, .post])
    func retryPolicyDoesNotRetryIt(method: HTTPMethod) async throws {
        let fixture = AgentFixture { $0.retryPolicy = policy }
        fixture.transport.on(.get, "/scripted", .json("{}"))
        let error = await #expect(throws: RequestError.self) {
            try await InlineRequest("missing") { $0.method = method }.send(on: fixture.agent)
        }
        #expect(error?.code == .unsupported && error?.attempts == 1)
        #expect(error?.message.contains("\(method) https://api.example.com/missing") == true)
        #expect(error?.message.contains("Scripted: GET /scripted.") == true)
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.transport.failures == ["\(method) https://api.example.com/missing"])
        #expect(!fixture.events.names.contains("retrying"))
    }

    /// The same policy retries a scripted failure.
    @Test func scriptedFailureIsRetried() async throws {
        let fixture = AgentFixture { $0.retryPolicy = policy }
        let lost = RequestError(.connectionLost, stage: .transport, "gone")
        let error = await fixture.failure(of: .failure(lost))
        #expect(error?.code == .connectionLost && error?.attempts == 3)
        #expect(fixture.transport.requestCount == 3)
    }

    @Test func storedResponseDoesNotReplaceIt() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            request.headers[.from] == nil ? .json(#"{"n":1}"#) : nil
        }
        let request = fixture.with(CachedRequest())
        try await request.send()
        fixture.agent.reconfigure { $0.sharedHeaders = [.from: "second"] }
        request.policy = .loadElseCache
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == .unsupported && fixture.transport.failures.count == 1)
    }
}
