import Foundation
import Testing

@testable import ErrandCore

@Suite struct HostGuardTests {
    private let policy = CircuitBreakerPolicy(failures: 3, pause: .seconds(10))

    /// The macro takes no mutating calls.
    private func expect<Value: Equatable>(_ value: Value, _ expected: Value) {
        #expect(value == expected)
    }

    @Test func failuresInARowOpenTheCircuitAndOneProbeClosesIt() {
        var circuit = CircuitBreaker()
        for outcome in [
            CircuitBreaker.Outcome.failure, .failure, .success, .failure, .none, .failure,
        ] {
            circuit.ended(outcome, policy, now: .zero)
            expect(circuit.request(policy, now: .zero), .pass)
        }
        circuit.ended(.failure, policy, now: .seconds(1))
        expect(circuit.request(policy, now: .seconds(5)), .refuse(for: .seconds(6)))
        expect(circuit.request(policy, now: .seconds(11)), .pass)
        #expect(circuit.state == .halfOpen(until: .seconds(21)))
        expect(circuit.request(policy, now: .seconds(11)), .refuseBesideProbe(for: .seconds(10)))
        circuit.ended(.success, policy, now: .seconds(12))
        #expect(circuit.isIdle)
    }

    @Test func aProbeThatFailsOpensItAgainAndOneThatTellsNothingFreesThePlace() {
        var circuit = CircuitBreaker()
        for _ in 0..<3 { circuit.ended(.failure, policy, now: .zero) }
        expect(circuit.request(policy, now: .seconds(10)), .pass)
        circuit.ended(.none, policy, now: .seconds(10))
        expect(circuit.request(policy, now: .seconds(10)), .pass)
        circuit.ended(.failure, policy, now: .seconds(10))
        expect(circuit.request(policy, now: .seconds(19)), .refuse(for: .seconds(1)))
    }

    @Test func aProbeThatNeverEndsHoldsTheOthersUpForOnePause() {
        var circuit = CircuitBreaker()
        for _ in 0..<3 { circuit.ended(.failure, policy, now: .zero) }
        expect(circuit.request(policy, now: .seconds(10)), .pass)
        expect(circuit.request(policy, now: .seconds(19)), .refuseBesideProbe(for: .seconds(1)))
        expect(circuit.request(policy, now: .seconds(20)), .pass)
        // Again one at a time.
        expect(circuit.request(policy, now: .seconds(20)), .refuseBesideProbe(for: .seconds(10)))
        // The first one comes back after all.
        circuit.ended(.success, policy, now: .seconds(21))
        expect(circuit.request(policy, now: .seconds(21)), .pass)
    }

    @Test func aPauseWithoutEndIsOne() {
        let policy = CircuitBreakerPolicy(failures: 1, pause: .seconds(Int64.max))
        var circuit = CircuitBreaker()
        circuit.ended(.failure, policy, now: .seconds(5))
        #expect(circuit.request(policy, now: .seconds(1_000_000)) != .pass)
    }

    /// Every code there is, without an answer: what is not listed here says nothing about the host.
    @Test func onlyWhatIsTheHostsFaultCountsAgainstIt() {
        let faults: Set<RequestError.Code> = [
            .cannotFindHost, .cannotConnect, .connectionLost, .secureConnectionFailed,
            .truncatedBody, .transportFailed, .timedOut, .badServerResponse,
        ]
        for code in RequestError.Code.all {
            let outcome = CircuitBreaker.Outcome(RequestError(code, stage: .transport, "test"))
            #expect(outcome == (faults.contains(code) ? .failure : .none), "\(code)")
        }
        var total = RequestError(.timedOut, stage: .transport, "test")
        total.timeout = .total
        #expect(CircuitBreaker.Outcome(total) == .none)
        #expect(CircuitBreaker.Outcome(nil) == .success)
    }

    @Test(arguments: [
        (RequestError.Code.unacceptableStatus, 500, CircuitBreaker.Outcome.failure),
        (.unacceptableStatus, 599, .failure), (.unacceptableStatus, 404, .success),
        (.bodyTooLarge, 200, .success), (.shapeMismatch, 200, .success),
        (.tooManyRedirects, 302, .success), (.unsafeRedirect, 302, .success),
        (.truncatedBody, 200, .failure), (.connectionLost, 200, .failure),
        (.cancelled, 200, .none),
    ])
    func anAnswerSpeaksForTheHostUnlessItIsCutOffOrSaysOtherwise(
        code: RequestError.Code, status: Int, outcome: CircuitBreaker.Outcome
    ) {
        var error = RequestError(code, stage: .transport, "test")
        error.response = Response(status: .init(code: status), url: URI())
        #expect(CircuitBreaker.Outcome(error) == outcome)
    }

    @Test func aBudgetPaysForRetriesInProportion() {
        let budget = RetryBudget(ratio: 0.2, reserve: 2)
        var purse = RetryPurse(budget)
        expect([purse.withdraw(), purse.withdraw(), purse.withdraw()], [true, true, false])
        for _ in 0..<5 { purse.deposit(budget) }
        expect([purse.withdraw(), purse.withdraw()], [true, false])
        for _ in 0..<1000 { purse.deposit(budget) }
        expect([purse.withdraw(), purse.withdraw(), purse.withdraw()], [true, true, false])
    }

    /// For every policy, error and attempt: within the number of attempts, within the longest pause, never
    /// after a cancellation, never of what may do harm.
    @Test func whateverTheInputARetryKeepsTheRules() {
        var random = SeededGenerator(seed: 3)
        let codes: [RequestError.Code] = [
            .cancelled, .timedOut, .connectionLost, .unacceptableStatus, .undecodable,
            .cannotConnect,
        ]
        for _ in 0..<20_000 {
            var policy = RetryPolicy(
                maximumAttempts: .random(in: -1...6, using: &random),
                baseDelay: .milliseconds(.random(in: 0...5000, using: &random)),
                maximumDelay: .milliseconds(.random(in: 0...20_000, using: &random)),
                retriesNonIdempotent: .random(using: &random))
            policy.sendsIdempotencyKey = .random(using: &random)
            var error = RequestError(
                codes.randomElement(using: &random) ?? .timedOut, stage: .transport, "")
            error.timeout = [nil, .total, .idle, .attempt].randomElement(using: &random) ?? nil
            if error.code == .unacceptableStatus || Bool.random(using: &random) {
                var response = Response(
                    status: .init(code: [429, 500, 404, 503].randomElement(using: &random) ?? 500),
                    url: URI())
                if Bool.random(using: &random) {
                    response.headers[.retryAfter] =
                        ["3", "900", "soon", "-1", "99999999999999999999"].randomElement(
                            using: &random)
                }
                error.response = response
            }
            let method =
                [HTTPMethod.get, .post, .put, .patch].randomElement(using: &random) ?? .get
            let attempt = Int.random(in: 1...80, using: &random)
            let decision = RetryDecision.decide(
                policy: policy, request: TransportRequest(method: method, url: URI()), error: error,
                attempt: attempt, now: Date(), random: .random(in: -1...2, using: &random))
            guard case .again(let delay) = decision else { continue }
            #expect(attempt < policy.maximumAttempts)
            #expect(delay >= .zero && delay <= policy.maximumDelay)
            #expect(!error.isCancellation && error.code != .undecodable)
            #expect(error.code != .timedOut || error.timeout != .total)
            #expect(method.isIdempotent || policy.retriesNonIdempotent)
        }
    }
}
