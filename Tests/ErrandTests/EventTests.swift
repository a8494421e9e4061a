import Errand
import ErrandTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventTests {
    private func failing() -> ScriptedAnswer {
        var answer = ScriptedAnswer.failure(
            RequestError(.connectionLost, stage: .transport, "The line was cut."))
        answer.timings.connected = .milliseconds(3)
        answer.timings.bytesSent = 42
        return answer
    }

    @Test func aFailedAttemptHasTimingsAndAReason() async throws {
        let world = World { $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero) }
        world.transport.on(nil, nil, failing())
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.timings?.bytesSent == 42 && error?.timings?.connected == .milliseconds(3))
        #expect(
            world.events.names == [
                "started", "adapted", "cacheMiss", "attemptStarted", "transferStarted", "phase",
                "transferEnded", "attemptEnded", "retrying", "attemptStarted", "transferStarted",
                "phase", "transferEnded", "attemptEnded", "retryDeclined", "ended",
            ])
        let costs = world.events.events.compactMap { event -> Int64? in
            if case .attemptEnded(_, let timings, _) = event.kind { timings.bytesSent } else { nil }
        }
        #expect(costs == [42, 42])
    }

    @Test func eachHopIsATransferOfItsOwn() async throws {
        let world = World()
        var first = ScriptedAnswer(status: .found, headers: [.location: "/y?secret=1"])
        first.timings.firstByte = .milliseconds(5)
        world.transport.on(.get, "/x", first)
        world.transport.on(.get, "/y", .json("{}"))
        try await world.with(Plain("x")).send()
        #expect(world.events.names.count { $0 == "transferStarted" } == 2)
        #expect(world.events.names.count { $0 == "phase" } == 1)
        let urls = world.events.events.compactMap { event -> String? in
            if case .transferStarted(_, let url) = event.kind { url } else { nil }
        }
        #expect(urls == ["https://api.example.com/x", "https://api.example.com/y?…"])
    }

    @Test func interimAnswersAreTold() async throws {
        let world = World()
        var answer = ScriptedAnswer.json("{}")
        answer.steps.insert(.informational(ResponseHead(status: .earlyHints)), at: 0)
        world.transport.on(nil, nil, answer)
        try await world.with(Plain("x")).send()
        let statuses = world.events.events.compactMap { event -> Int? in
            if case .informational(_, let status) = event.kind { status.code } else { nil }
        }
        #expect(statuses == [103])
    }

    @Test func renewalsAreTold() async throws {
        let token = Mutex("old")
        let world = World {
            $0.authenticators = [
                HostAuthenticator(
                    "api.example.com",
                    BearerAuthenticator {
                        token.withLock { $0 }
                    } refresh: {
                        token.withLock { $0 = "new" }
                    })
            ]
        }
        world.transport.on(.get, "/x", .json("{}", status: .unauthorized), .json("{}"))
        try await world.with(Plain("x")).send()
        #expect(
            world.events.names.filter { $0.hasPrefix("credentials") } == [
                "credentialsRefused", "credentialsRenewed",
            ])
    }
}
