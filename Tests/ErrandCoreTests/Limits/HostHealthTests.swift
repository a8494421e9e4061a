import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

@Suite struct HostHealthTests {
    private let policy = CircuitBreakerPolicy(failures: 3, pause: .seconds(10))

    @Test func consecutiveFailuresOpenTheCircuitAndOneProbeClosesIt() {
        var circuit = CircuitBreaker()
        for outcome in [
            CircuitBreaker.Outcome.failure, .failure, .success, .failure, .none, .failure,
        ] {
            circuit.ended(outcome, policy, now: .zero)
            expectEqual(circuit.request(policy, now: .zero), .pass)
        }
        circuit.ended(.failure, policy, now: .seconds(1))
        expectEqual(circuit.request(policy, now: .seconds(5)), .refuse(for: .seconds(6)))
        expectEqual(circuit.request(policy, now: .seconds(11)), .pass)
        #expect(circuit.state == .halfOpen(until: .seconds(21)))
        expectEqual(
            circuit.request(policy, now: .seconds(11)),
            .refuseDuringProbe(for: .seconds(10)))
        circuit.ended(.success, policy, now: .seconds(12))
        #expect(circuit.isIdle)
    }

    @Test func failedProbeReopensTheCircuitAndInconclusiveProbeAdmitsAnother() {
        var circuit = CircuitBreaker()
        for _ in 0..<3 { circuit.ended(.failure, policy, now: .zero) }
        expectEqual(circuit.request(policy, now: .seconds(10)), .pass)
        circuit.ended(.none, policy, now: .seconds(10))
        expectEqual(circuit.request(policy, now: .seconds(10)), .pass)
        circuit.ended(.failure, policy, now: .seconds(10))
        expectEqual(circuit.request(policy, now: .seconds(19)), .refuse(for: .seconds(1)))
    }

    @Test func unfinishedProbeBlocksOthersForOnePause() {
        var circuit = CircuitBreaker()
        for _ in 0..<3 { circuit.ended(.failure, policy, now: .zero) }
        expectEqual(circuit.request(policy, now: .seconds(10)), .pass)
        expectEqual(
            circuit.request(policy, now: .seconds(19)),
            .refuseDuringProbe(for: .seconds(1)))
        expectEqual(circuit.request(policy, now: .seconds(20)), .pass)
        // Again one probe at a time.
        expectEqual(
            circuit.request(policy, now: .seconds(20)),
            .refuseDuringProbe(for: .seconds(10)))
        // The first probe ends after all.
        circuit.ended(.success, policy, now: .seconds(21))
        expectEqual(circuit.request(policy, now: .seconds(21)), .pass)
    }

    @Test func longestPauseDoesNotOverflow() {
        let policy = CircuitBreakerPolicy(failures: 1, pause: .seconds(Int64.max))
        var circuit = CircuitBreaker()
        circuit.ended(.failure, policy, now: .seconds(5))
        #expect(circuit.request(policy, now: .seconds(1_000_000)) != .pass)
    }

    /// Every error code without a response: the codes not listed say nothing about the host.
    @Test func onlyHostFailuresCountAgainstTheHost() {
        let hostFailures: Set<RequestError.Code> = [
            .cannotFindHost, .cannotConnect, .connectionLost, .secureConnectionFailed,
            .truncatedBody, .transportFailed, .timedOut, .badServerResponse,
        ]
        for code in RequestError.Code.all {
            let outcome = CircuitBreaker.Outcome(RequestError(code, stage: .transport, "test"))
            #expect(outcome == (hostFailures.contains(code) ? .failure : .none), "\(code)")
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
    func outcomesOfErrorsWithAResponse(
        code: RequestError.Code, status: Int, outcome: CircuitBreaker.Outcome
    ) {
        var error = RequestError(code, stage: .transport, "test")
        error.response = Response(status: .init(code: status), url: HTTPURL())
        #expect(CircuitBreaker.Outcome(error) == outcome)
    }

    @Test func retryBudgetGrowsWithTheNumberOfRequests() {
        let budget = RetryBudget(ratio: 0.2, reserve: 2)
        var bucket = RetryTokenBucket(budget)
        expectEqual(
            [bucket.withdraw(), bucket.withdraw(), bucket.withdraw()], [true, true, false])
        for _ in 0..<5 { bucket.deposit(budget) }
        expectEqual([bucket.withdraw(), bucket.withdraw()], [true, false])
        for _ in 0..<1000 { bucket.deposit(budget) }
        expectEqual(
            [bucket.withdraw(), bucket.withdraw(), bucket.withdraw()], [true, true, false])
    }
}
