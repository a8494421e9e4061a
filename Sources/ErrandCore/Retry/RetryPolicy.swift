/// The rules for retrying failed requests.
///
/// Fewer than 1 attempt, a negative delay, or an ``attemptTimeout`` of zero or less fails requests with
/// ``RequestError/Code/invalidConfiguration``.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts; 1 means no retry (default 1).
    ///
    /// It limits a `retryDecider`, too; ``deciderAttempts`` is the exception. For a download, an attempt that has
    /// received new bytes starts the count again.
    public var maximumAttempts: Int
    /// The upper bound of the delay before the second attempt (default 500 ms).
    ///
    /// It doubles with each further attempt. The actual delay is a random fraction of it (full jitter).
    public var baseDelay: Duration
    /// The upper bound of the delay, however often it has doubled (default 30 s).
    ///
    /// It does not apply to `Retry-After`; see ``maximumRetryAfter``.
    public var maximumDelay: Duration
    /// The longest delay that the server may request with `Retry-After` (default 60 s).
    ///
    /// A request with a longer `Retry-After` is not retried.
    public var maximumRetryAfter: Duration
    /// The status codes that are retried (default 408, 425, 429, 500, 502, 503, 504).
    ///
    /// A status that the endpoint accepts is a success and is never retried; an event with
    /// `RetryRefusal.acceptedStatus` reports that.
    public var retryableStatusCodes: Set<Int> {
        get { ownStatusCodes ?? Self.defaultStatusCodes }
        set { ownStatusCodes = newValue == Self.defaultStatusCodes ? nil : newValue }
    }
    /// Status codes other than the default ones; `nil` means the default.
    ///
    /// The default set is created when it is first read, because the first set of integers in a process costs a search
    /// of all conformances.
    private var ownStatusCodes: Set<Int>?
    /// Whether requests with methods that are not idempotent are retried (default false).
    ///
    /// A request that sets an `Idempotency-Key` header is always retried.
    public var retriesNonIdempotent: Bool
    /// The time limit for the transfers of one attempt; `nil`, the default, means no limit.
    ///
    /// An attempt that takes longer fails with ``RequestError/Code/timedOut``. The limit counts only while data is
    /// sent or received, not while the attempt waits for a rate limit, a concurrency permit or new credentials, or
    /// is suspended by the app; ``Timeouts/total`` limits those. A limit of zero or less fails the request with
    /// ``RequestError/Code/invalidConfiguration``.
    public var attemptTimeout: Duration?
    /// Whether requests with methods that are not idempotent send an `Idempotency-Key` (default false).
    ///
    /// All attempts send the same key, and such requests are retried like idempotent ones.
    public var sendsIdempotencyKey: Bool
    /// Whether a retry decider also decides about failures of response processors and of the decoding (default false).
    ///
    /// Another attempt then repeats the whole request, also one whose response came from the store. Without a decider,
    /// or with `asPolicy`, such a failure is final. The maximum number of attempts counts those of all repetitions.
    public var retriesProcessing = false

    /// Creates a policy.
    public init(
        maximumAttempts: Int = 1, baseDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(30), maximumRetryAfter: Duration = .seconds(60),
        retryableStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504],
        retriesNonIdempotent: Bool = false, attemptTimeout: Duration? = nil,
        sendsIdempotencyKey: Bool = false
    ) {
        self.maximumAttempts = maximumAttempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.maximumRetryAfter = maximumRetryAfter
        self.retriesNonIdempotent = retriesNonIdempotent
        self.attemptTimeout = attemptTimeout
        self.sendsIdempotencyKey = sendsIdempotencyKey
        self.retryableStatusCodes = retryableStatusCodes
    }

    /// The default policy.
    private init() {
        maximumAttempts = 1
        baseDelay = .milliseconds(500)
        maximumDelay = .seconds(30)
        maximumRetryAfter = .seconds(60)
        retriesNonIdempotent = false
        sendsIdempotencyKey = false
    }

    private static let defaultStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The maximum number of attempts for a `retryDecider` if no policy asks for more than one attempt: 3.
    ///
    /// It applies if the endpoint sets no policy and the configuration's has one attempt. An endpoint that sets
    /// ``none`` is never retried.
    public static let deciderAttempts = 3

    /// A policy with one attempt.
    public static let none = RetryPolicy()

    /// A policy with this number of attempts and the other defaults.
    public static func attempts(_ count: Int) -> RetryPolicy { RetryPolicy(maximumAttempts: count) }
}

extension RetryPolicy {
    /// The first setting whose value is invalid, and the values that are valid.
    package var fault: String? {
        if maximumAttempts < 1 {
            return "retryPolicy.maximumAttempts is \(maximumAttempts). Set 1 for no retry, or more."
        }
        if let attemptTimeout, attemptTimeout <= .zero {
            return
                "retryPolicy.attemptTimeout is \(attemptTimeout). Set more than zero, or nil for no limit."
        }
        let isNegative = baseDelay < .zero || maximumDelay < .zero || maximumRetryAfter < .zero
        return isNegative ? "A delay of retryPolicy is negative. Set zero or more." : nil
    }
}
