import ErrandHTTP
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCore

@Suite struct RetryDecisionTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test func defaultPolicyMakesOneAttempt() {
        #expect(decide(RetryPolicy(), .connectionLost, attempt: 1).givesUp)
    }

    @Test func delayDoublesUpToTheMaximumWithJitter() {
        let policy = RetryPolicy(
            maximumAttempts: 10, baseDelay: .seconds(1), maximumDelay: .seconds(5))
        #expect(
            decide(policy, .connectionLost, attempt: 1, random: 1) == .again(after: .seconds(1)))
        #expect(
            decide(policy, .connectionLost, attempt: 3, random: 1) == .again(after: .seconds(4)))
        #expect(
            decide(policy, .connectionLost, attempt: 4, random: 1) == .again(after: .seconds(5)))
        #expect(
            decide(policy, .connectionLost, attempt: 3, random: 0.5) == .again(after: .seconds(2)))
        #expect(decide(policy, .connectionLost, attempt: 3, random: 0) == .again(after: .zero))
        #expect(decide(policy, .connectionLost, attempt: 10, random: 1).givesUp)
    }

    @Test(arguments: [HTTPMethod.post, .patch, HTTPMethod("PURGE")])
    func nonIdempotentMethodsAreNotRetried(method: HTTPMethod) {
        #expect(decide(.attempts(3), .connectionLost, method: method).givesUp)
        var policy = RetryPolicy.attempts(3)
        policy.retriesNonIdempotent = true
        #expect(decide(policy, .connectionLost, method: method).givesUp == false)
    }

    @Test(arguments: [
        RequestError.Code.cancelled, .invalidURL, .certificateRejected, .pinMismatch,
        .shapeMismatch,
        .undecodable, .unsupported, .duplicate, .processingFailed, .tooManyRedirects,
    ])
    func permanentErrorsAreNotRetried(code: RequestError.Code) {
        #expect(decide(.attempts(3), code).givesUp)
    }

    @Test func onlyTheListedStatusesAreRetried() {
        #expect(decide(.attempts(3), .unacceptableStatus, status: 503).givesUp == false)
        #expect(decide(.attempts(3), .unacceptableStatus, status: 429).givesUp == false)
        #expect(decide(.attempts(3), .unacceptableStatus, status: 404).givesUp)
        #expect(decide(.attempts(3), .unacceptableStatus, status: 501).givesUp)
    }

    @Test func retryAfterIsFollowedInSecondsAndAsADate() {
        #expect(
            decide(.attempts(3), .unacceptableStatus, status: 503, retryAfter: "7")
                == .again(after: .seconds(7)))
        #expect(
            decide(
                .attempts(3), .unacceptableStatus, status: 503,
                retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT") == .again(after: .seconds(10)))
        #expect(
            decide(
                .attempts(3), .unacceptableStatus, status: 503,
                retryAfter: "Sun, 06 Nov 1994 08:00:00 GMT") == .again(after: .zero))
    }

    @Test(arguments: ["0", "00", "Sun, 06 Nov 1994 08:00:00 GMT"])
    func zeroRetryAfterUsesTheBackoff(text: String) {
        let policy = RetryPolicy(maximumAttempts: 9, baseDelay: .seconds(1))
        let delays = (1...3).map {
            decide(
                policy, .unacceptableStatus, status: 429, retryAfter: text, attempt: $0, random: 1)
        }
        #expect(delays == [1, 2, 4].map { .again(after: .seconds($0)) })
    }

    @Test func hugeDelaysAreClamped() {
        let hugeDelay = Duration.seconds(Int64.max)
        let policy = RetryPolicy(
            maximumAttempts: 99, baseDelay: hugeDelay, maximumDelay: .seconds(40))
        #expect(
            decide(policy, .connectionLost, attempt: 70, random: 1) == .again(after: .seconds(40)))
        let both = RetryPolicy(maximumAttempts: 99, baseDelay: hugeDelay, maximumDelay: hugeDelay)
        let longest = RetryDecision.again(after: .seconds(1 << 32))
        #expect(decide(both, .connectionLost, attempt: 70, random: 1) == longest)
        let negative = RetryPolicy(
            maximumAttempts: 9, baseDelay: .seconds(-1), maximumDelay: .seconds(Int64.min))
        #expect(decide(negative, .connectionLost, random: 1) == .again(after: .zero))
    }

    @Test func givingUpStatesTheReason() {
        #expect(decide(.attempts(2), .connectionLost, attempt: 2) == .giveUp(.attemptsSpent))
        #expect(decide(.attempts(2), .connectionLost, method: .post) == .giveUp(.notIdempotent))
        #expect(decide(.attempts(2), .undecodable) == .giveUp(.notWorthwhile))
        #expect(
            decide(.attempts(2), .unacceptableStatus, status: 503, retryAfter: "3600")
                == .giveUp(.pauseTooLong))
    }

    @Test func backoffAndRetryAfterHaveSeparateLimits() {
        func decide(_ policy: RetryPolicy, _ retryAfter: String?) -> RetryDecision {
            self.decide(
                policy, .unacceptableStatus, status: 503, retryAfter: retryAfter, random: 1)
        }
        var policy = RetryPolicy(
            maximumAttempts: 3, baseDelay: .seconds(9), maximumDelay: .seconds(5))
        #expect(policy.maximumRetryAfter == .seconds(60))
        #expect(decide(policy, nil) == .again(after: .seconds(5)))
        #expect(decide(policy, "60") == .again(after: .seconds(60)))
        #expect(decide(policy, "61") == .giveUp(.pauseTooLong))
        policy.maximumRetryAfter = .seconds(2)
        #expect(decide(policy, "2") == .again(after: .seconds(2)))
        #expect(decide(policy, "3") == .giveUp(.pauseTooLong))
        #expect(decide(policy, nil) == .again(after: .seconds(5)))
    }

    @Test func longRetryAfterGivesUp() {
        #expect(
            decide(.attempts(3), .unacceptableStatus, status: 503, retryAfter: "3600").givesUp)
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775808", "99999999999999999999999999"])
    func overflowingRetryAfterGivesUp(text: String) {
        #expect(
            decide(.attempts(3), .unacceptableStatus, status: 503, retryAfter: text)
                == .giveUp(.pauseTooLong))
    }

    @Test(arguments: ["+5", "-5", "5.5", "0x5", "5, 6", "", "soon"])
    func invalidRetryAfterIsIgnored(text: String) {
        let pause = decide(
            .attempts(3), .unacceptableStatus, status: 503, retryAfter: text, random: 0)
        #expect(pause == .again(after: .zero))
    }

    @Test func idempotencyKeyAllowsRetryingAPOST() throws {
        var request = TransportRequest(method: .post, url: HTTPURL())
        request.headers[try #require(HTTPField.Name.idempotencyKey)] = "order-7"
        let error = RequestError(.connectionLost, stage: .transport, "test")
        let decision = RetryDecision.decide(
            policy: .attempts(3), request: request, error: error, attempt: 1, now: now, random: 0)
        #expect(decision == .again(after: .zero))
    }

    @Test(arguments: [true, false])
    func onlyUnprocessedRequestsIgnoreTheMethod(isUnprocessed: Bool) {
        var error = RequestError(.connectionLost, stage: .transport, "test")
        error.isUnprocessed = isUnprocessed
        let decision = RetryDecision.decide(
            policy: .attempts(3), request: TransportRequest(method: .post, url: HTTPURL()),
            error: error, attempt: 1, now: now, random: 0)
        #expect(decision == (isUnprocessed ? .again(after: .zero) : .giveUp(.notIdempotent)))
    }

    /// For random policies, errors and attempts: a retry stays within the limits of attempts and delay.
    ///
    /// It never follows a cancellation or the total timeout, and it repeats a method that is not idempotent only
    /// when the policy allows it.
    @Test func retriesKeepTheirLimitsForRandomInput() {
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
                maximumRetryAfter: .milliseconds(.random(in: 0...20_000, using: &random)),
                retriesNonIdempotent: .random(using: &random))
            policy.sendsIdempotencyKey = .random(using: &random)
            var error = RequestError(
                codes.randomElement(using: &random) ?? .timedOut, stage: .transport, "")
            error.timeout = [nil, .total, .idle, .attempt].randomElement(using: &random) ?? nil
            if error.code == .unacceptableStatus || Bool.random(using: &random) {
                var response = Response(
                    status: .init(code: [429, 500, 404, 503].randomElement(using: &random) ?? 500),
                    url: HTTPURL())
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
                policy: policy, request: TransportRequest(method: method, url: HTTPURL()),
                error: error,
                attempt: attempt, now: Date(), random: .random(in: -1...2, using: &random))
            guard case .again(let delay) = decision else { continue }
            #expect(attempt < policy.maximumAttempts)
            #expect(delay >= .zero)
            let isRequested = error.response?.headers[.retryAfter] == "3"
            #expect(
                delay <= policy.maximumDelay
                    || isRequested && delay == .seconds(3) && delay <= policy.maximumRetryAfter)
            #expect(!error.isCancellation && error.code != .undecodable)
            #expect(error.code != .timedOut || error.timeout != .total)
            #expect(method.isIdempotent || policy.retriesNonIdempotent)
        }
    }

    private func decide(
        _ policy: RetryPolicy, _ code: RequestError.Code, method: HTTPMethod = .get,
        status: Int? = nil, retryAfter: String? = nil, attempt: Int = 1, random: Double = 0.5
    ) -> RetryDecision {
        var error = RequestError(code, stage: .transport, "test")
        if let status {
            var headers = HTTPFields()
            headers[.retryAfter] = retryAfter
            error.response = Response(
                status: .init(code: status), headers: headers, url: HTTPURL())
        }
        return .decide(
            policy: policy, request: TransportRequest(method: method, url: HTTPURL()), error: error,
            attempt: attempt, now: now, random: random)
    }
}

extension RetryDecision {
    fileprivate var givesUp: Bool { if case .giveUp = self { true } else { false } }
}
