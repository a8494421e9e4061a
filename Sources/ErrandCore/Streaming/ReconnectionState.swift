package import ErrandHTTP

/// Decides whether and when an event stream reconnects, as a pure state machine (HTML standard, §9.2.3).
///
/// It departs from the standard in three points: a reconnection that gets a retryable status, such as
/// 503, is repeated; attempts without an event are delayed increasingly; and a reconnection time has
/// bounds, so that a server can neither request a loop without a pause nor one that never ends.
package struct ReconnectionState: Sendable {
    /// The end of one connection, or of the attempt to open one.
    package enum Ending: Sendable {
        /// The body was read to its end.
        case complete
        /// A status of 204: the server asks the client to stop.
        case noContent
        case failed(RequestError)
    }

    /// The next action.
    package enum Action: Sendable {
        case reconnect(after: Duration)
        case finish
        case fail(RequestError)
    }

    /// The reconnection time until the server sends another one with `retry` (3 s).
    package static let defaultTime = Duration.seconds(3)
    /// The shortest time between two connections.
    package static let minimumTime = Duration.milliseconds(500)
    /// The longest reconnection time that a server can set with `retry`.
    package static let maximumTime = Duration.seconds(3600)

    /// The maximum number of successive failures; `nil` for no limit, 0 for no reconnection.
    private let limit: Int?
    private let policy: RetryPolicy
    /// The number of successive attempts without an event.
    private var attempts = 0
    /// The number of successive connections that failed without an event.
    private var failures = 0

    package init(limit: Int?, policy: RetryPolicy) {
        self.limit = limit
        self.policy = policy
    }

    /// An event has arrived.
    package mutating func received() { (attempts, failures) = (0, 0) }

    /// A connection, or the attempt to open one, has ended.
    ///
    /// - Parameters:
    ///   - reconnectionTime: The time that the server has set; `nil` if it has set none.
    ///   - retryAfter: The pause that the response of a failed attempt asks for.
    ///   - random: A number from 0 to 1 for the jitter.
    package mutating func ended(
        _ ending: Ending, reconnectionTime: Duration?, retryAfter: Duration? = nil, random: Double
    ) -> Action {
        if case .noContent = ending { return .finish }
        var failure: RequestError?
        if case .failed(let error) = ending {
            guard Self.isTemporary(error, policy) else { return .fail(error) }
            failure = error
        }
        if limit == 0 { return failure.map { .fail($0) } ?? .finish }
        if let failure {
            if let limit, failures >= limit { return .fail(failure) }
            failures += 1
        } else {
            failures = 0
        }
        if let retryAfter, retryAfter > policy.maximumRetryAfter, let failure {
            return .fail(failure)
        }
        var delay = min(
            max(reconnectionTime ?? Self.defaultTime, Self.minimumTime), Self.maximumTime)
        if attempts > 0 {
            delay += RetryDecision.delay(policy, attempt: attempts, random: random)
        }
        attempts += 1
        return .reconnect(after: max(delay, retryAfter ?? .zero))
    }

    private static func isTemporary(_ error: RequestError, _ policy: RetryPolicy) -> Bool {
        switch error.code {
        case .offline, .circuitOpen: true
        case .timedOut: error.timeout != .total
        default: RetryDecision.isRetryable(error, policy: policy)
        }
    }
}
