public import Foundation
public import HTTPTypes

/// One thing that happened to a request, with the time at which it did.
public struct RequestEvent: Sendable {
    /// The task it happened to.
    public var taskID: UUID
    /// The endpoint's type name, such as `GetUser`.
    public var endpoint: String
    /// The endpoint's tag.
    public var tag: Int
    /// When, on the agent's clock (``RequestClock/uptime``).
    public var uptime: Duration
    /// What happened.
    public var kind: Kind
    /// The endpoint's type, where one described the request.
    package var endpointType: ObjectIdentifier?

    package init(
        taskID: UUID, endpoint: String, endpointType: ObjectIdentifier? = nil, tag: Int,
        uptime: Duration, kind: Kind
    ) {
        self.taskID = taskID
        self.endpoint = endpoint
        self.endpointType = endpointType
        self.tag = tag
        self.uptime = uptime
        self.kind = kind
    }

    /// What happened; a growing list, so a `switch` over it needs a default.
    public enum Kind: Sendable {
        /// The task began.
        case started
        /// The request was built: its method and its address without query.
        case adapted(method: HTTPMethod, url: String)
        /// An identical request is under way; this one waits for its answer.
        case joined
        /// The store had a usable answer.
        case cacheHit(age: Duration, source: Response.Source)
        /// The store had none, and why.
        case cacheMiss(CacheMissReason)
        /// The answer was stored.
        case cacheStored(bytes: Int)
        /// The answer could not be stored; the request goes on.
        case cacheWriteFailed(RequestError)
        /// The task is held by ``RequestTask/suspend()``.
        case suspended
        /// The task goes on after ``RequestTask/resume()``.
        case continued
        /// Somebody cancelled the task; its end follows.
        case cancelled
        /// There is no network; the request waits for one.
        case waitingForConnectivity
        /// The request waits for a place.
        case queued
        /// The request has its place.
        case dequeued(after: Duration)
        /// The request waits because of its host's rate limit.
        case rateLimited(for: Duration)
        /// The request's body went out, so many bytes.
        case requestBodySent(attempt: Int, bytes: Int64)
        /// The answer's body came whole, so many bytes.
        case bodyReceived(attempt: Int, bytes: Int64)
        /// A request was handed to the transport: the attempt's own, one that follows a redirect, or one with
        /// renewed credentials. Its address comes without query.
        case transferStarted(attempt: Int, url: String)
        /// An interim answer, 100 to 199, came.
        case informational(attempt: Int, HTTPResponse.Status)
        /// A phase of a transfer was over so long after its start; told with the transfer's end.
        case phase(attempt: Int, Phase, after: Duration)
        /// A transfer ended, with what it cost, and why it failed if it did.
        case transferEnded(attempt: Int, AttemptTimings, RequestError?)
        /// No further attempt: the host's retry budget is spent.
        case retryBudgetSpent
        /// No further attempt, and why; told where the policy, or the decider, allows more than one at all.
        case retryDeclined(RetryRefusal)
        /// The server refused the credentials of a request to this host with 401; they are renewed, or somebody
        /// else's renewal is waited for.
        case credentialsRefused(host: String)
        /// The credentials were renewed, and the request goes out once more, unless its body is spent.
        case credentialsRenewed
        /// The credentials were not renewed; the error is `nil` when there is nothing to renew.
        case credentialsNotRenewed(RequestError?)
        /// An attempt, counted from 1, begins.
        case attemptStarted(Int)
        /// Pins that only report did not fit the host's certificates; the request goes on.
        case pinMismatch(PinMismatch)
        /// The head of an answer came.
        case headReceived(attempt: Int, HTTPResponse.Status)
        /// A redirect is followed to an address, given without query.
        case redirected(to: String, HTTPResponse.Status)
        /// An attempt ended, with what it cost, and why it failed if it did.
        case attemptEnded(Int, AttemptTimings, RequestError?)
        /// A further attempt will be made after a pause.
        case retrying(after: Duration, RequestError)
        /// A download goes on at this offset.
        case resumed(offset: Int64)
        /// The answer passed or failed validation.
        case validated(RequestError?)
        /// The task ended.
        case ended(RequestError?)
    }
}

extension RequestEvent {
    /// The phases of an attempt that the transport times.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The host's address is known.
        case nameLookedUp
        /// The connection is there.
        case connected
        /// TLS is agreed on.
        case secured
        /// The first byte of the answer came.
        case firstByte
    }
}

/// Why a failed attempt is not followed by another.
public enum RetryRefusal: String, Sendable, Hashable, CaseIterable {
    /// As many attempts as the policy allows were made.
    case attemptsSpent
    /// The method is not idempotent, and nothing says that the request may be sent twice.
    case notIdempotent
    /// A further attempt would fail for the same reason.
    case notWorthwhile
    /// The body can be made only once, and has been.
    case bodySpent
    /// The server asks to wait longer than the policy's longest pause.
    case pauseTooLong
    /// ``Configuration/retryDecider`` said so.
    case decider
}

/// Hears of everything that happens to requests; changes nothing.
public protocol RequestEventListener: Sendable {
    /// Called in order for one task, from any thread but a transport's own.
    ///
    /// Be quick all the same: it may be one of the few threads that Swift tasks share.
    func handle(_ event: RequestEvent)
}
