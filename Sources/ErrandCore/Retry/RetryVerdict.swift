/// What ``Configuration/retryDecider`` says about a failed attempt.
public enum RetryVerdict: Sendable, Hashable {
    /// What the request's ``RetryPolicy`` says.
    case asPolicy
    /// No further attempt.
    case giveUp
    /// A further attempt after a pause, as long as the policy's number of attempts allows one.
    case again(after: Duration)
}

/// A failed attempt, as ``Configuration/retryDecider`` sees it.
public struct FailedAttempt: Sendable {
    /// The endpoint.
    public var description: RequestDescription
    /// What was sent.
    public var request: TransportRequest
    /// Why it failed.
    public var error: RequestError
    /// Its number, from 1.
    public var attempt: Int
}
