import ErrandTransport

/// The decision of ``Configuration/redirectDecider`` about a redirect that would be followed.
public enum RedirectVerdict: Sendable {
    /// Follow the redirect as proposed.
    case asPolicy
    /// Deliver the 3xx response, which is validated like any other.
    case deliver
    /// Send this request instead of the proposed one.
    ///
    /// It must use http or https, and change from https to http only if the policy allows
    /// downgrades. If its origin differs from that of ``ProposedRedirect/original``, credentials
    /// copied from that request (`Authorization`, `Cookie` and similar fields) are removed; other
    /// values that the decider sets are kept.
    case follow(TransportRequest)
}

/// A redirect that ``Configuration/redirectDecider`` decides about.
public struct ProposedRedirect: Sendable {
    /// The description of the request.
    public var description: RequestDescription
    /// The redirect response, 301 to 308.
    public var response: Response
    /// The request that was redirected, including credentials for its origin.
    public var original: TransportRequest
    /// The request that follows the redirect, with the method and body that the status requires.
    ///
    /// If the origin changes, it has no credentials.
    public var request: TransportRequest
    /// The number of this redirect, from 1.
    public var count: Int
}

/// The decision of ``Configuration/retryDecider`` about a failed attempt.
public enum RetryVerdict: Sendable, Hashable {
    /// Apply the request's ``RetryPolicy``.
    case asPolicy
    /// Make no further attempt.
    case giveUp
    /// Make another attempt after a delay, within the policy's maximum number of attempts.
    case again(after: Duration)
}

/// A failed attempt that ``Configuration/retryDecider`` decides about.
public struct FailedAttempt: Sendable {
    /// The description of the request.
    public var description: RequestDescription
    /// The request that was sent.
    public var request: TransportRequest
    /// The error.
    public var error: RequestError
    /// The number of the attempt, from 1.
    public var attempt: Int
}
