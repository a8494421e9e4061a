import Errand
import ErrandTesting
import ErrandTransport
import TestSupport
import Testing

@Suite(.limited) struct EventTests {
    private func failing() -> ScriptedResponse {
        var response = ScriptedResponse.failure(
            RequestError(.connectionLost, stage: .transport, "connection lost"))
        response.timings.connected = .milliseconds(3)
        response.timings.bytesSent = 42
        return response
    }

    @Test func failedAttemptReportsTimingsAndError() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
        }
        fixture.transport.on(nil, nil, failing())
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.timings?.bytesSent == 42 && error?.timings?.connected == .milliseconds(3))
        #expect(
            fixture.events.names == [
                "started", "adapted", "attemptStarted", "transferStarted", "phase",
                "transferEnded", "attemptEnded", "retrying", "attemptStarted", "transferStarted",
                "phase", "transferEnded", "attemptEnded", "retryDeclined", "ended",
            ])
        let bytesSent = fixture.events.events.compactMap { event -> Int64? in
            if case .attemptEnded(_, let timings, _) = event.kind { timings.bytesSent } else { nil }
        }
        #expect(bytesSent == [42, 42])
    }

    @Test func eachRedirectHopReportsItsOwnTransfer() async throws {
        let fixture = AgentFixture()
        var first = ScriptedResponse(status: .found, headers: [.location: "/y?secret=1"])
        first.timings.firstByte = .milliseconds(5)
        fixture.transport.on(.get, "/x", first)
        fixture.transport.on(.get, "/y", .json("{}"))
        try await fixture.with(Plain("x")).send()
        #expect(fixture.events.names.count { $0 == "transferStarted" } == 2)
        #expect(fixture.events.names.count { $0 == "phase" } == 1)
        let urls = fixture.events.events.compactMap { event -> String? in
            if case .transferStarted(_, let url) = event.kind { url.string } else { nil }
        }
        #expect(urls == ["https://api.example.com/x", "https://api.example.com/y"])
    }

    @Test func informationalResponsesAreReported() async throws {
        let fixture = AgentFixture()
        var response = ScriptedResponse.json("{}")
        response.steps.insert(.informational(ResponseHead(status: .earlyHints)), at: 0)
        fixture.transport.on(nil, nil, response)
        try await fixture.with(Plain("x")).send()
        let statuses = fixture.events.events.compactMap { event -> Int? in
            if case .informational(_, let status) = event.kind { status.code } else { nil }
        }
        #expect(statuses == [103])
    }

    @Test func credentialRefreshIsReported() async throws {
        let token = RefreshableToken()
        let fixture = AgentFixture {
            $0.authenticators = [
                "api.example.com": .bearer {
                    token.current
                } refresh: {
                    token.refresh()
                }
            ]
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .unauthorized), .json("{}"))
        try await fixture.with(Plain("x")).send()
        #expect(
            fixture.events.names.filter { $0.hasPrefix("credentials") } == [
                "credentialsRefused", "credentialsRenewed",
            ])
    }
}
