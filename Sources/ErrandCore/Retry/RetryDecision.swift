package import Foundation
package import HTTPTypes

/// Whether a failed attempt is followed by another (rows RTY-1 to RTY-3): a pure function.
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
        guard isWorthwhile(error, policy: policy) else { return .giveUp(.notWorthwhile) }
        if let asked = retryAfter(error.response?.headers[.retryAfter], now: now) {
            // Asked to wait longer than anybody wants to: better an answer now.
            return asked <= policy.maximumDelay ? .again(after: asked) : .giveUp(.pauseTooLong)
        }
        // Full jitter: a random part of a pause that doubles with each attempt.
        let doublings = Double(1 << min(attempt - 1, 30))
        let longest = min(policy.baseDelay * doublings, policy.maximumDelay)
        return .again(after: min(longest, longest * max(0, min(random, 1))))
    }

    /// Whether the server can tell a second sending from a second request: by the policy's key, or the endpoint's own.
    private static func hasIdempotencyKey(_ request: TransportRequest) -> Bool {
        HTTPField.Name.idempotencyKey.map { request.headers[$0] != nil } ?? false
    }

    private static func isWorthwhile(_ error: RequestError, policy: RetryPolicy) -> Bool {
        switch error.code {
        case .unacceptableStatus:
            error.response.map { policy.retryableStatusCodes.contains($0.status.code) } ?? false
        case .timedOut: error.timeout != .total
        case .cannotFindHost, .cannotConnect, .connectionLost, .truncatedBody, .transportFailed:
            true
        default: false
        }
    }

    /// `Retry-After` as seconds or as a date (RFC 9110 §10.2.3).
    ///
    /// More seconds than can be counted are very many, and no reason to come back soon.
    package static func retryAfter(_ text: String?, now: Date) -> Duration? {
        guard let text else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, 1 << 32))
        }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .milliseconds(Int64(max(0, min(date.timeIntervalSince(now), 4e9)) * 1000))
    }
}

extension HTTPField.Name {
    /// Names one change, so that a server which sees it twice makes it once.
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")
}
