package import ErrandSystem

/// The pauses and limits of an ``Outbox``.
public struct OutboxPolicy: Sendable, Hashable {
    /// The pause after the first failure of an origin; doubled with each further failure.
    ///
    /// Default 1 s.
    public var baseDelay: Duration
    /// The longest pause.
    ///
    /// Default 5 minutes.
    public var maximumDelay: Duration
    /// How many times a server may refuse an entry with a temporary error, such as 503, before it
    /// is parked.
    ///
    /// Default 10. Attempts that reach no server do not count.
    public var maximumRefusals: Int
    /// The largest body that is stored, in bytes.
    ///
    /// Default 16 MiB.
    public var maximumBodyBytes: Int
    /// The maximum number of entries, including parked ones.
    ///
    /// Default 100,000. Another entry fails with ``RequestError/Code/queueFull`` before anything is
    /// written.
    public var maximumEntries: Int
    /// The maximum size of all entries, in bytes: bodies, URLs and headers.
    ///
    /// Default 1 GiB. An entry that exceeds it fails with ``RequestError/Code/queueFull`` before
    /// anything is written.
    public var maximumBytes: Int
    /// The duration of a lease, if several outboxes share a store.
    ///
    /// Default 30 s, at least 1 s. If the process of an outbox ends while it sends an entry, other
    /// outboxes wait for this duration before they send it. An outbox renews its lease three times
    /// within the duration, and reads the entries of other outboxes once within it.
    public var lease: Duration

    /// Creates a policy; each parameter has the default of its property.
    public init(
        baseDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(300),
        maximumRefusals: Int = 10, maximumBodyBytes: Int = 16 << 20, lease: Duration = .seconds(30),
        maximumEntries: Int = 100_000, maximumBytes: Int = 1 << 30
    ) {
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.maximumRefusals = maximumRefusals
        self.maximumBodyBytes = maximumBodyBytes
        self.lease = lease
        self.maximumEntries = maximumEntries
        self.maximumBytes = maximumBytes
    }

    /// The error for an outbox of this size; `nil` if it is within the limits.
    func refusal(count: Int, bytes: Int) -> RequestError? {
        let limit: String
        if count > maximumEntries {
            limit = "\(maximumEntries) entries (OutboxPolicy.maximumEntries)"
        } else if bytes > maximumBytes {
            limit = "\(maximumBytes) bytes (OutboxPolicy.maximumBytes)"
        } else {
            return nil
        }
        return RequestError(
            .queueFull, stage: .schedule,
            "The outbox would exceed its limit of \(limit). Wait until entries are delivered, "
                + "remove parked entries, or raise the limit.")
    }

    /// ``lease``, at least 1 s.
    var leaseDuration: Duration { max(lease.clamped, .seconds(1)) }

    /// The pause after a number of consecutive failures.
    ///
    /// - Parameter asked: The pause that the server requested with `Retry-After`.
    package func pause(after failures: Int, asked: Duration?) -> Duration {
        let doublings = Double(1 << min(max(failures - 1, 0), 30))
        let own = min(baseDelay.clamped * doublings, maximumDelay.clamped)
        return min(max(own, asked ?? .zero), maximumDelay.clamped)
    }
}

/// The result of an attempt to send an entry.
package enum OutboxVerdict: Sendable, Equatable {
    /// The server has accepted the request.
    case delivered
    /// No server was reached; the entry stays in its position.
    case unreachable
    /// The server refused the request with a temporary error, perhaps with a `Retry-After`.
    case refused(after: Duration?)
    /// The request cannot be delivered as it is.
    case undeliverable
    /// The attempt was stopped; its result is unknown.
    case stopped
    /// The entry was not sent: another outbox sends to its origin, or an earlier entry must be sent
    /// first.
    case leasedElsewhere(after: Duration)
    /// Another outbox has delivered or removed the entry.
    case gone

    /// Derives the verdict from the error of an attempt; a pure function.
    ///
    /// - Parameter acceptable: The statuses that count as delivered.
    package static func judge(
        _ error: RequestError?, acceptable: [Range<Int>], now: Date
    ) -> OutboxVerdict {
        guard let error else { return .delivered }
        switch error.code {
        // A rule discarded the response: the server has received the request.
        case .cancelled where error.stage == .validate: return .delivered
        case .cancelled, .agentShutDown: return .stopped
        case .unacceptableStatus:
            guard let status = error.response?.status.code,
                [401, 407, 408, 425, 429].contains(status) || (500..<600).contains(status)
            else { return .undeliverable }
            let asked = RetryAfter.duration(error.response?.headers[.retryAfter], now: now)
            return .refused(after: asked)
        // The server did not carry out the request: it refused it or redirected it.
        case .rejected, .unsafeRedirect, .tooManyRedirects: return .undeliverable
        // The server accepted the request. Its response could not be stored or processed, which a
        // retry would not change.
        case _
        where error.response.map({ response in
            acceptable.contains { $0.contains(response.status.code) }
        }) == true:
            return .delivered
        case .timedOut, .cannotFindHost, .cannotConnect, .connectionLost, .offline, .circuitOpen,
            .queueFull, .transportFailed, .proxyFailed, .secureConnectionFailed, .truncatedBody:
            return .unreachable
        // As after a 401, the request itself is valid: it may succeed after a sign-in, a corrected
        // clock or a repaired server.
        case .authenticationFailed, .certificateRejected, .adaptationFailed, .badServerResponse:
            return .refused(after: nil)
        // An interceptor threw before it received a response.
        case .processingFailed where error.response == nil: return .refused(after: nil)
        default: return .undeliverable
        }
    }
}
