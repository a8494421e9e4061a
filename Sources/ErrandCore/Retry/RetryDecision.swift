package import ErrandHTTP
package import ErrandSystem
package import HTTPTypes

/// Decides whether a failed attempt is retried; pure.
package enum RetryDecision: Sendable, Equatable {
    case giveUp(RetryRefusal)
    case again(after: Duration)

    package static func decide(
        policy: RetryPolicy, request: TransportRequest, error: RequestError, attempt: Int,
        now: Date,
        random: Double
    ) -> RetryDecision {
        guard attempt < policy.maximumAttempts else { return .giveUp(.attemptsSpent) }
        guard
            request.method.isIdempotent || policy.retriesNonIdempotent
                || hasIdempotencyKey(request) || error.isUnprocessed
        else { return .giveUp(.notIdempotent) }
        guard request.body?.isConsumed != true else { return .giveUp(.bodySpent) }
        guard isRetryable(error, policy: policy) else { return .giveUp(.notWorthwhile) }
        if let retryAfter = RetryAfter.duration(error.response?.headers[.retryAfter], now: now) {
            // The server requests a longer pause than the policy allows: fail now.
            guard retryAfter <= policy.maximumRetryAfter else { return .giveUp(.pauseTooLong) }
            // A 429 with `Retry-After: 0` or a past date still gets the usual delay.
            let isVague = retryAfter <= .zero && error.response?.status == .tooManyRequests
            return .again(
                after: isVague ? delay(policy, attempt: attempt, random: random) : retryAfter)
        }
        return .again(after: delay(policy, attempt: attempt, random: random))
    }

    /// Full jitter: a random part of a delay that doubles with each attempt.
    package static func delay(
        _ policy: RetryPolicy, attempt: Int, random: Double
    ) -> Duration {
        let doublings = Double(1 << min(max(attempt - 1, 0), 30))
        let longest = min(policy.baseDelay.clamped * doublings, policy.maximumDelay.clamped)
        return min(longest, longest * max(0, min(random, 1)))
    }

    /// Whether a key, of the policy or the endpoint, lets the server recognize a repeated request.
    private static func hasIdempotencyKey(_ request: TransportRequest) -> Bool {
        HTTPField.Name.idempotencyKey.map { request.headers[$0] != nil } ?? false
    }

    package static func isRetryable(_ error: RequestError, policy: RetryPolicy) -> Bool {
        switch error.code {
        case .unacceptableStatus:
            error.response.map { policy.retryableStatusCodes.contains($0.status.code) } ?? false
        case .timedOut: error.timeout != .total
        case .cannotFindHost, .cannotConnect, .connectionLost, .truncatedBody, .transportFailed:
            true
        default: false
        }
    }
}

extension HTTPField.Name {
    /// Identifies an operation, so that the server performs it once even if the request is repeated.
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")
}

extension RetryPolicy {
    /// The reason why a failed attempt is not retried.
    public enum Refusal: String, Sendable, Hashable, CaseIterable {
        /// The policy's maximum number of attempts is reached.
        case attemptsSpent
        /// The method is not idempotent, and nothing declares the request safe to repeat.
        case notIdempotent
        /// Another attempt would fail for the same reason.
        case notWorthwhile
        /// The body stream is not replayable and was already consumed.
        case bodySpent
        /// The server requests a longer delay than the policy allows.
        case pauseTooLong
        /// A retry decider of the endpoint or the configuration decided against it.
        case decider
        /// The policy retries this status, but the endpoint accepts it: the request has succeeded.
        case acceptedStatus
    }
}

/// The reason why a failed attempt is not retried.
public typealias RetryRefusal = RetryPolicy.Refusal
