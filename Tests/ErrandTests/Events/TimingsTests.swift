import Errand
import ErrandTesting
import HTTPTypes
import TestSupport
import Testing

/// A response holds the timings of every transfer that led to it.
@Suite(.limited) struct TimingsTests {
    private func json(_ bytesSent: Int64, _ status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        var response = ScriptedResponse.json("{}", status: status)
        response.timings.bytesSent = bytesSent
        return response
    }

    private func connectionLost(_ bytesSent: Int64) -> ScriptedResponse {
        var response = ScriptedResponse.failure(
            RequestError(.connectionLost, stage: .transport, "scripted"))
        response.timings.bytesSent = bytesSent
        return response
    }

    private func fixture() -> AgentFixture {
        AgentFixture { $0.retryPolicy = RetryPolicy(maximumAttempts: 4, baseDelay: .zero) }
    }

    @Test func responseTimingsIncludeFailedAttempts() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/x", json(1, .serviceUnavailable), connectionLost(2), json(3, .badGateway),
            json(4))
        let response = try await fixture.with(Plain("x")).send()
        #expect(response.attempts == 4)
        #expect(response.timings.map(\.bytesSent) == [1, 2, 3, 4])
        let reported = fixture.events.events.compactMap { event in
            if case .attemptEnded(_, let timings, _) = event.kind { timings.bytesSent } else { nil }
        }
        #expect(reported == [1, 2, 3, 4])
    }

    @Test func errorResponseTimingsIncludeAllAttempts() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/x", connectionLost(1), json(2, .serviceUnavailable), connectionLost(3),
            json(4, .serviceUnavailable))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.response?.timings.map(\.bytesSent) == [1, 2, 3, 4])
    }

    @Test func responseTimingsIncludeRedirects() async throws {
        let fixture = fixture()
        var moved = ScriptedResponse(status: .found, headers: [.location: "/new"])
        moved.timings.bytesSent = 1
        fixture.transport.on(.get, "/old", moved)
        fixture.transport.on(.get, "/new", json(2, .serviceUnavailable), json(3))
        let response = try await fixture.with(Plain("old")).send()
        #expect(response.timings.map(\.bytesSent) == [1, 2, 1, 3])
    }
}
