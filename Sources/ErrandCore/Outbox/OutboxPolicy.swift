package import Foundation

/// How an ``Outbox`` goes about its entries.
public struct OutboxPolicy: Sendable, Hashable {
    /// The pause before an origin that failed is tried again; doubled with each further failure (default 1 s).
    public var baseDelay: Duration
    /// The longest pause (default 5 minutes).
    public var maximumDelay: Duration
    /// How often a server may refuse an entry for a reason that may pass, such as 503, before it is set aside
    /// (default 10).
    ///
    /// A server that cannot be reached does not count: it may be away for days.
    public var maximumRefusals: Int
    /// The largest body that is kept, in bytes (default 16 MiB).
    public var maximumBodyBytes: Int
    /// How many entries are kept at once, those that were set aside included (default 100,000).
    ///
    /// One more is refused with ``RequestError/Code/queueFull`` before anything is written.
    public var maximumEntries: Int
    /// How many bytes all entries together may have, in bodies, addresses and headers (default 1 GiB).
    ///
    /// What goes beyond is refused with ``RequestError/Code/queueFull`` before anything is written.
    public var maximumBytes: Int
    /// For how long nobody else sends what an outbox had under way when it died, where several share a store
    /// (default 30 s, at least 1 s).
    ///
    /// An outbox renews its lease three times within it, and looks that often for what others have left.
    public var lease: Duration

    /// Makes a policy; each parameter has the default its property names.
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

    /// Why so much is too much.
    func refusal(count: Int, bytes: Int) -> RequestError? {
        let limit: String
        if count > maximumEntries {
            limit = "\(maximumEntries) entries, as OutboxPolicy.maximumEntries allows"
        } else if bytes > maximumBytes {
            limit = "as many bytes as OutboxPolicy.maximumBytes, \(maximumBytes), allows"
        } else {
            return nil
        }
        return RequestError(
            .queueFull, stage: .schedule,
            "The outbox would hold more than \(limit). Wait until some are delivered, remove what was set aside, or raise the limit."
        )
    }

    /// The lease that counts.
    var usedLease: Duration { max(lease.countable, .seconds(1)) }

    /// The pause behind so many failures in a row.
    package func pause(after failures: Int, asked: Duration?) -> Duration {
        let doublings = Double(1 << min(max(failures - 1, 0), 30))
        let own = min(baseDelay.countable * doublings, maximumDelay.countable)
        return min(max(own, asked ?? .zero), maximumDelay.countable)
    }
}

/// What an attempt says about an entry: a pure function.
package enum OutboxVerdict: Sendable, Equatable {
    case delivered
    /// Nobody was reached; the entry stays where it is.
    case unreachable
    /// The server refused it for a reason that may pass.
    case refused(after: Duration?)
    /// It will never be delivered as it is.
    case hopeless
    /// Somebody stopped the sending; nothing is known.
    case stopped
    /// It was not sent, because another outbox is sending to its origin, or something else goes first.
    case elsewhere(after: Duration)
    /// Another outbox has delivered it, or removed it.
    case gone

    /// - Parameter acceptable: The statuses that count as delivered.
    package static func judge(
        _ error: RequestError?, acceptable: Range<Int>, now: Date
    ) -> OutboxVerdict {
        guard let error else { return .delivered }
        switch error.code {
        // A business validator dropped the answer: the server has the request.
        case .cancelled where error.stage == .validate: return .delivered
        case .cancelled, .agentShutDown: return .stopped
        case .unacceptableStatus:
            guard let status = error.response?.status.code,
                [401, 407, 408, 425, 429].contains(status) || (500..<600).contains(status)
            else { return .hopeless }
            let asked = RetryDecision.retryAfter(error.response?.headers[.retryAfter], now: now)
            return .refused(after: asked)
        // What took the request says no, or where it is to go instead: it was not carried out.
        case .rejected, .unsafeRedirect, .tooManyRedirects: return .hopeless
        // It took the request; what came back could not be kept or processed, and would not be better a second time.
        case _ where error.response.map({ acceptable.contains($0.status.code) }) == true:
            return .delivered
        case .timedOut, .cannotFindHost, .cannotConnect, .connectionLost, .offline, .circuitOpen,
            .queueFull, .transportFailed, .proxyFailed, .secureConnectionFailed, .truncatedBody:
            return .unreachable
        // As after a 401: it may help to sign in, to set the clock right or to mend the server: not the request's fault.
        case .authenticationFailed, .certificateRejected, .adaptationFailed, .badServerResponse:
            return .refused(after: nil)
        default: return .hopeless
        }
    }
}
