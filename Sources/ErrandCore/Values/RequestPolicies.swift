/// What happens when the same request is under way already (row CAN-7): the same by its cache key, its headers, and by how
/// it is carried, redirected and trusted.
///
/// Those whose policy is ``allow`` are not counted: they neither reject, nor are joined, waited for or cancelled.
public enum DuplicatePolicy: Sendable, Hashable {
    /// Both are sent. The default.
    case allow
    /// The later one fails with ``RequestError/Code/duplicate``.
    case reject
    /// The later one gets the earlier one's answer; one transfer.
    case join
    /// The earlier one is cancelled.
    case cancelPrevious
    /// The later one waits for the earlier one's end, whatever that is, and is sent then: one after another, in the
    /// order of their starts.
    case queue
}

/// Which redirects are followed (row SES-3).
public struct RedirectPolicy: Sendable, Hashable, Codable {
    /// How many redirects in a row are followed; 0 hands every 3xx back as the answer (default 20).
    public var maximumCount: Int
    /// Whether a redirect from https to http is followed, without credentials (default false).
    public var allowsDowngrade: Bool

    /// Makes a policy.
    public init(maximumCount: Int = 20, allowsDowngrade: Bool = false) {
        self.maximumCount = maximumCount
        self.allowsDowngrade = allowsDowngrade
    }

    /// Follows up to 20 redirects, none from https to http.
    public static let follow = RedirectPolicy()
    /// Follows none: a 3xx is the answer.
    public static let none = RedirectPolicy(maximumCount: 0)
}

/// Whether and when a failed request is sent again (rows RTY-1 to RTY-5).
public struct RetryPolicy: Sendable, Hashable {
    /// How many attempts are made in all; 1 means no retry (default 1).
    public var maximumAttempts: Int
    /// The pause before the second attempt; doubled for each further one, and a random part of it taken.
    public var baseDelay: Duration
    /// The longest pause.
    public var maximumDelay: Duration
    /// Statuses that are worth another attempt (default 408, 425, 429, 500, 502, 503, 504).
    public var retryableStatusCodes: Set<Int>
    /// Whether methods that are not idempotent are sent again (default false).
    ///
    /// A request with an `Idempotency-Key` header of its own always is.
    public var retriesNonIdempotent: Bool
    /// How long one attempt may take; `nil`, the default, has no limit.
    ///
    /// What takes longer counts as failed.
    public var attemptTimeout: Duration?
    /// Whether methods that are not idempotent carry an `Idempotency-Key`, the same in every
    /// attempt, and are sent again like those that are.
    ///
    /// Default false.
    public var sendsIdempotencyKey: Bool

    /// Makes a policy.
    public init(
        maximumAttempts: Int = 1, baseDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(30),
        retryableStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504],
        retriesNonIdempotent: Bool = false, attemptTimeout: Duration? = nil,
        sendsIdempotencyKey: Bool = false
    ) {
        self.maximumAttempts = maximumAttempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.retryableStatusCodes = retryableStatusCodes
        self.retriesNonIdempotent = retriesNonIdempotent
        self.attemptTimeout = attemptTimeout
        self.sendsIdempotencyKey = sendsIdempotencyKey
    }

    /// One attempt.
    public static let none = RetryPolicy()

    /// So many attempts in all, with the other defaults.
    public static func attempts(_ count: Int) -> RetryPolicy { RetryPolicy(maximumAttempts: count) }
}
