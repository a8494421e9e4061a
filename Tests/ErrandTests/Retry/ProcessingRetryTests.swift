import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Failures of response processors and of the decoding that a decider repeats.
@Suite(.limited) struct ProcessingRetryTests {
    private struct Refused: Error {}

    /// Fails for bodies that contain "late".
    private struct LateProcessor: Sendable {
        func process(_ response: inout Response) throws {
            if response.string?.contains("late") == true { throw Refused() }
        }
    }

    private static let late = ScriptedResponse.json(#"{"nick":"late","level":1}"#)
    private static let odd = ScriptedResponse.json(#"{"nick":7}"#)
    private static let good = ScriptedResponse.json(#"{"nick":"a","level":3}"#)

    private func fixture(
        _ responses: ScriptedResponse..., isOn: Bool = true, attempts: Int = 3,
        decide: @escaping RetryDecider = { _ in .again(after: .zero) }
    ) -> AgentFixture {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: attempts, baseDelay: .zero)
            $0.retryPolicy.retriesProcessing = isOn
            $0.retryDecider = decide
            $0.responseProcessors = [LateProcessor().process]
        }
        for response in responses { fixture.transport.on(.get, "/users", response) }
        return fixture
    }

    @Test func failureIsRepeatedIfTheAuthorSaysSo() async throws {
        let seen = Shared<[FailedAttempt]>([])
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            $0.retryPolicy.retriesProcessing = true
            $0.retryDecider = { attempt in
                seen.value.append(attempt)
                return .again(after: .seconds(2))
            }
            $0.responseProcessors = [LateProcessor().process]
        }
        fixture.transport.on(.get, "/users", Self.late, Self.odd, Self.good)
        let run = Task { try await fixture.with(GetUser(id: 7)).send() }
        for _ in 0..<2 {
            try await fixture.clock.untilSleeping()
            fixture.clock.advance(by: .seconds(2))
        }
        let response = try await run.value
        #expect(response.attempts == 3 && fixture.transport.requestCount == 3)
        #expect(seen.value.map(\.attempt) == [1, 2])
        #expect(seen.value.map(\.error.code) == [.processingFailed, .undecodable])
        #expect(seen.value.allSatisfy { $0.request.url.path == "/users" })
        #expect(fixture.events.names.count { $0 == "retrying" } == 2)
    }

    @Test func failureIsFinalByDefaultAndByTheDecider() async throws {
        for (isOn, verdict) in [
            (false, RetryVerdict.again(after: .zero)), (true, .giveUp), (true, .asPolicy),
        ] {
            let fixture = fixture(Self.late, isOn: isOn) { _ in verdict }
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(GetUser(id: 7)).send()
            }
            #expect(error?.code == .processingFailed && fixture.transport.requestCount == 1)
        }
    }

    /// The decider always asks for another attempt.
    @Test(arguments: [1, 2, 5])
    func attemptsHaveTheLimitOfThePolicy(attempts: Int) async throws {
        let fixture = fixture(Self.late, attempts: attempts)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(GetUser(id: 7)).send()
        }
        let count = attempts == 1 ? RetryPolicy.deciderAttempts : attempts
        #expect(error?.attempts == count && fixture.transport.requestCount == count)
        #expect(fixture.events.names.contains("retryDeclined"))
    }

    /// Attempts that failed before their processing, and those that failed in it, have one maximum.
    @Test(arguments: [2, 3, 5], [true, false])
    func attemptsOfAllRepetitionsCountTogether(attempts: Int, isBusyFirst: Bool) async throws {
        let busy = ScriptedResponse.json("{}", status: .serviceUnavailable)
        let seen = Shared<[Int]>([])
        let fixture = fixture(attempts: attempts) { attempt in
            seen.value.append(attempt.attempt)
            return .again(after: .zero)
        }
        if isBusyFirst {
            fixture.transport.on(.get, "/users", busy, Self.late, busy)
        } else {
            fixture.transport.on(.get, "/users", Self.late, busy)
        }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(GetUser(id: 7)).send()
        }
        #expect(error?.attempts == attempts && fixture.transport.requestCount == attempts)
        #expect(seen.value == Array(1...attempts))
        let codes = error.map { $0.previousErrors.map(\.code) + [$0.code] }
        #expect(codes?.contains(.processingFailed) == true)
    }

    @Test func pauseEndsWithTheTask() async throws {
        let fixture = fixture(Self.late) { _ in .again(after: .seconds(60)) }
        let task = fixture.agent.start(GetUser(id: 7).makeDescription())
        try await fixture.clock.untilSleeping()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled && fixture.transport.requestCount == 1)
        #expect(fixture.clock.sleepers == 0)
    }

    // MARK: - Idempotency keys

    private func repeatsWithKeys(_ configuration: inout Configuration) {
        configuration.retryPolicy = RetryPolicy(
            maximumAttempts: 4, baseDelay: .zero, sendsIdempotencyKey: true)
        configuration.retryPolicy.retriesProcessing = true
        configuration.retryDecider = { _ in .again(after: .zero) }
        configuration.responseProcessors = [LateProcessor().process]
    }

    /// The server may have performed the request whose response could not be processed.
    @Test(arguments: [false, true])
    func repetitionSendsTheSameIdempotencyKey(isBusyBetween: Bool) async throws {
        let fixture = AgentFixture(repeatsWithKeys)
        let busy = ScriptedResponse.json("{}", status: .serviceUnavailable)
        fixture.transport.on(.post, "/post", Self.late, isBusyBetween ? busy : Self.late, Self.good)
        for _ in 0..<2 { try await fixture.with(PostRequest()).send() }
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let keys = fixture.transport.requests.map { $0.headers[name] }
        #expect(keys.count == 4 && keys[0] != nil && keys[0] == keys[1] && keys[1] == keys[2])
        #expect(keys[3] != nil && keys[3] != keys[0])
    }

    /// An interceptor that sends other requests, too: a server identifies an operation by its key.
    @Test func requestsToOtherURLsHaveKeysOfTheirOwn() async throws {
        let fixture = AgentFixture.intercepting(repeatsWithKeys) { request, next in
            var session = request
            session.url.path = "/session"
            _ = try await next(session)
            return try await next(request)
        }
        fixture.transport.on(.post, "/session", .json("{}"))
        fixture.transport.on(.post, "/post", Self.late, Self.good)
        try await fixture.with(PostRequest()).send()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let keys = fixture.transport.requests.map { $0.headers[name] }
        #expect(keys.count == 4 && keys[0] == keys[2] && keys[1] == keys[3])
        #expect(keys[0] != nil && keys[1] != nil && keys[0] != keys[1])
    }
}
