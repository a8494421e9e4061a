import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

@Suite struct RetryDecisionTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test func oneAttemptIsTheDefault() {
        #expect(decide(RetryPolicy(), .connectionLost, attempt: 1).givesUp)
    }

    @Test func thePauseDoublesUpToTheCapAndIsJittered() {
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
    func whatIsNotIdempotentIsNotSentAgain(method: HTTPMethod) {
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
    func whatWouldFailAgainIsNotRetried(code: RequestError.Code) {
        #expect(decide(.attempts(3), code).givesUp)
    }

    @Test func onlyTheListedStatusesAreRetried() {
        #expect(decide(.attempts(3), .unacceptableStatus, status: 503).givesUp == false)
        #expect(decide(.attempts(3), .unacceptableStatus, status: 429).givesUp == false)
        #expect(decide(.attempts(3), .unacceptableStatus, status: 404).givesUp)
        #expect(decide(.attempts(3), .unacceptableStatus, status: 501).givesUp)
    }

    @Test func retryAfterIsObeyedInSecondsAndAsADate() {
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

    @Test func whyNotIsSaid() {
        #expect(decide(.attempts(2), .connectionLost, attempt: 2) == .giveUp(.attemptsSpent))
        #expect(decide(.attempts(2), .connectionLost, method: .post) == .giveUp(.notIdempotent))
        #expect(decide(.attempts(2), .undecodable) == .giveUp(.notWorthwhile))
        #expect(
            decide(.attempts(2), .unacceptableStatus, status: 503, retryAfter: "3600")
                == .giveUp(.pauseTooLong))
    }

    @Test func anHourIsTooLongToWait() {
        #expect(
            decide(.attempts(3), .unacceptableStatus, status: 503, retryAfter: "3600").givesUp)
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775808", "99999999999999999999999999"])
    func morePauseThanCanBeCountedIsNoShortOne(text: String) {
        #expect(
            decide(.attempts(3), .unacceptableStatus, status: 503, retryAfter: text)
                == .giveUp(.pauseTooLong))
    }

    @Test(arguments: ["+5", "-5", "5.5", "0x5", "5, 6", "", "soon"])
    func whatIsNoNumberOfSecondsIsNotTakenForOne(text: String) {
        let pause = decide(
            .attempts(3), .unacceptableStatus, status: 503, retryAfter: text, random: 0)
        #expect(pause == .again(after: .zero))
    }

    @Test func anEndpointsOwnIdempotencyKeySaysThatItMayBeSentTwice() throws {
        var request = TransportRequest(method: .post, url: URI())
        request.headers[try #require(HTTPField.Name.idempotencyKey)] = "order-7"
        let error = RequestError(.connectionLost, stage: .transport, "test")
        let decision = RetryDecision.decide(
            policy: .attempts(3), request: request, error: error, attempt: 1, now: now, random: 0)
        #expect(decision == .again(after: .zero))
    }

    @Test(arguments: [true, false])
    func whatWasNotProcessedMayBeSentAgainWhateverItIs(isUnprocessed: Bool) {
        var error = RequestError(.connectionLost, stage: .transport, "test")
        error.isUnprocessed = isUnprocessed
        let decision = RetryDecision.decide(
            policy: .attempts(3), request: TransportRequest(method: .post, url: URI()),
            error: error, attempt: 1, now: now, random: 0)
        #expect(decision == (isUnprocessed ? .again(after: .zero) : .giveUp(.notIdempotent)))
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
                status: .init(code: status), headers: headers, url: URI())
        }
        return .decide(
            policy: policy, request: TransportRequest(method: method, url: URI()), error: error,
            attempt: attempt, now: now, random: random)
    }
}

extension RetryDecision {
    fileprivate var givesUp: Bool { if case .giveUp = self { true } else { false } }
}
