import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// What every request that went out took stands in the answer's timings.
@Suite(.timeLimit(.minutes(5))) struct TimingsTests {
    private func answer(_ sent: Int64, _ status: HTTPResponse.Status = .ok) -> ScriptedAnswer {
        var answer = ScriptedAnswer.json("{}", status: status)
        answer.timings.bytesSent = sent
        return answer
    }

    private func lost(_ sent: Int64) -> ScriptedAnswer {
        var answer = ScriptedAnswer.failure(
            RequestError(.connectionLost, stage: .transport, "scripted"))
        answer.timings.bytesSent = sent
        return answer
    }

    private func world() -> World {
        World { $0.retryPolicy = RetryPolicy(maximumAttempts: 4, baseDelay: .zero) }
    }

    @Test func ofAttemptsThatFailed() async throws {
        let world = world()
        world.transport.on(
            .get, "/x", answer(1, .serviceUnavailable), lost(2), answer(3, .badGateway), answer(4))
        let response = try await world.with(Plain("x")).send()
        #expect(response.attempts == 4)
        #expect(response.timings.map(\.bytesSent) == [1, 2, 3, 4])
        let told = world.events.events.compactMap { event in
            if case .attemptEnded(_, let timings, _) = event.kind { timings.bytesSent } else { nil }
        }
        #expect(told == [1, 2, 3, 4])
    }

    @Test func ofTheAnswerThatAFailureEndsWith() async throws {
        let world = world()
        world.transport.on(
            .get, "/x", lost(1), answer(2, .serviceUnavailable), lost(3),
            answer(4, .serviceUnavailable))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.response?.timings.map(\.bytesSent) == [1, 2, 3, 4])
    }

    @Test func ofRedirectsWithinAttempts() async throws {
        let world = world()
        var moved = ScriptedAnswer(status: .found, headers: [.location: "/new"])
        moved.timings.bytesSent = 1
        world.transport.on(.get, "/old", moved)
        world.transport.on(.get, "/new", answer(2, .serviceUnavailable), answer(3))
        let response = try await world.with(Plain("old")).send()
        #expect(response.timings.map(\.bytesSent) == [1, 2, 1, 3])
    }
}
