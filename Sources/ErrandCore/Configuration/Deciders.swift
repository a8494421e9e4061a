import ErrandTransport

extension ProposedRedirect {
    /// The decision of ``Configuration/redirectDecider`` about a redirect that would be followed.
    public enum Verdict: Sendable {
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
}

/// The decision about a redirect.
public typealias RedirectVerdict = ProposedRedirect.Verdict

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

/// Decides about a failed attempt; called off the main actor, it must be fast.
public typealias RetryDecider = @Sendable (FailedAttempt) -> RetryVerdict

extension FailedAttempt {
    /// The decision of a ``RetryDecider`` about a failed attempt.
    public enum Verdict: Sendable, Hashable {
        /// Leave the decision to ``Configuration/retryDecider``, and then to the request's
        /// ``RetryPolicy``.
        case asPolicy
        /// Make no further attempt.
        case giveUp
        /// Make another attempt after a delay, within the policy's maximum number of attempts.
        ///
        /// If no policy asks for more than one attempt, ``RetryPolicy/deciderAttempts`` is the maximum.
        /// An event with a ``RetryRefusal`` reports an attempt that is not made.
        case again(after: Duration)
    }
}

/// The decision about a failed attempt.
public typealias RetryVerdict = FailedAttempt.Verdict

/// A failed attempt that a ``RetryDecider`` decides about.
///
/// A response with a status that the endpoint accepts is a success; no decider is called for it, unless a processor or
/// the decoder fails and ``RetryPolicy/retriesProcessing`` is true.
public struct FailedAttempt: Sendable {
    /// The description of the request.
    public var description: RequestDescription
    /// The request that was sent; after a failure of a processor or a decoder, the request as it was built, without
    /// credentials and cookies.
    public var request: TransportRequest
    /// The error.
    public var error: RequestError
    /// The number of the attempt, from 1.
    public var attempt: Int
}
