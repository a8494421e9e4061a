public import ErrandHTTP
public import Foundation
public import HTTPTypes

/// An event of a request, with a timestamp.
public struct RequestEvent: Sendable {
    /// The identifier of the task.
    public var taskID: UUID
    /// The endpoint's type name, such as `GetUser`.
    public var endpoint: String
    /// The endpoint's tag.
    public var tag: Int
    /// The time of the event on the agent's clock (``RequestClock/uptime``).
    public var uptime: Duration
    /// The kind of event.
    public var kind: Kind
    /// The typed values that were attached to the request.
    public var metadata = RequestMetadata()
    /// The response that the request delivers; `nil` except for ``Kind/ended(_:)`` without an error.
    ///
    /// The body of a streamed response has been read by then, and is not included.
    public var response: Response?
    /// The endpoint's type, if an endpoint described the request.
    package var endpointType: ObjectIdentifier?

    package init(
        taskID: UUID, endpoint: String, endpointType: ObjectIdentifier? = nil, tag: Int,
        uptime: Duration, kind: Kind, metadata: RequestMetadata = RequestMetadata(),
        response: Response? = nil
    ) {
        self.taskID = taskID
        self.endpoint = endpoint
        self.endpointType = endpointType
        self.tag = tag
        self.uptime = uptime
        self.kind = kind
        self.metadata = metadata
        self.response = response
    }

    /// The kind of event.
    ///
    /// Cases may be added, so a `switch` needs a default.
    public enum Kind: Sendable {
        /// The task started.
        case started
        /// The request was built; the URL has no query.
        case adapted(method: HTTPMethod, url: String)
        /// An identical request is in progress; this one waits for its response.
        case joined
        /// The store had a usable response.
        case cacheHit(age: Duration, source: Response.Source)
        /// The store had no usable response, with the reason.
        case cacheMiss(CacheMissReason)
        /// The network failed after a stored response was delivered, which is the result; see ``Response/loadError``.
        case storedResponseKept(RequestError)
        /// The response was stored.
        case cacheStored(bytes: Int)
        /// The response could not be stored; the request continues.
        case cacheWriteFailed(RequestError)
        /// The store has met a problem and continues; emitted once for each problem.
        ///
        /// For example, it has replaced a damaged file, or uses memory instead of a file.
        case storeProblem(RequestError)
        /// The task was suspended by ``RequestTask/suspend()``.
        case suspended
        /// The task continues after ``RequestTask/resume()``.
        case continued
        /// The task was cancelled; ``ended(_:)`` follows.
        case cancelled
        /// There is no network; the request waits for connectivity.
        case waitingForConnectivity
        /// The request waits for a concurrency permit.
        case queued
        /// The request received its concurrency permit.
        case dequeued(after: Duration)
        /// The request waits because of its host's rate limit.
        case rateLimited(for: Duration)
        /// The request body was sent, with its size.
        case requestBodySent(attempt: Int, bytes: Int64)
        /// The response body was received completely, with its size.
        case bodyReceived(attempt: Int, bytes: Int64)
        /// A request was handed to the transport; the URL has no query.
        ///
        /// This is the attempt's first request, one after a redirect, or one with refreshed credentials.
        case transferStarted(attempt: Int, url: String)
        /// An interim response (100...199) was received.
        case informational(attempt: Int, HTTPResponse.Status)
        /// A phase ended at this time after the transfer's start; emitted when the transfer ends.
        case phase(attempt: Int, Phase, after: Duration)
        /// A transfer ended, with its timings, and an error if it failed.
        case transferEnded(attempt: Int, AttemptTimings, RequestError?)
        /// The circuit breaker of a host has changed its state.
        case circuitChanged(host: String, CircuitBreakerPolicy.State)
        /// No further attempt: the host's retry budget is exhausted.
        case retryBudgetSpent
        /// No further attempt, with the reason.
        ///
        /// Emitted only if the policy allows more than one attempt, or a retry decider gave a verdict.
        case retryDeclined(RetryRefusal)
        /// The server refused the credentials with 401; the request waits for a refresh.
        case credentialsRefused(host: String)
        /// The credentials were refreshed; the request is sent again unless its body was consumed.
        case credentialsRenewed
        /// The credentials were not refreshed; the error is `nil` if there is nothing to refresh.
        case credentialsNotRenewed(RequestError?)
        /// An attempt started; attempts count from 1.
        case attemptStarted(Int)
        /// A report-only pin did not match the host's certificates; the request continues.
        case pinMismatch(PinMismatch)
        /// Public suffixes are incomplete, because libpsl is not installed.
        ///
        /// Emitted once for each cookie jar without a list of its own, by the first response that sets a
        /// cookie.
        case publicSuffixesIncomplete
        /// A response head was received.
        case headReceived(attempt: Int, HTTPResponse.Status)
        /// A redirect is followed to this URL, given without query.
        case redirected(to: String, HTTPResponse.Status)
        /// An attempt ended, with its timings, and an error if it failed.
        case attemptEnded(Int, AttemptTimings, RequestError?)
        /// Another attempt follows after a delay.
        case retrying(after: Duration, RequestError)
        /// A download resumes at this offset.
        case resumed(offset: Int64)
        /// The response passed validation, or failed with this error.
        case validated(RequestError?)
        /// The task ended.
        case ended(RequestError?)
    }
}

extension RequestEvent {
    /// The phases of a transfer that the transport measures.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The host name was resolved.
        case nameLookedUp
        /// The connection was established.
        case connected
        /// The TLS handshake completed.
        case secured
        /// The first byte of the response was received.
        case firstByte
    }
}

/// Receives the events of requests; cannot change them.
public protocol RequestEventListener: Sendable {
    /// Called for each event, in order for each task, on any thread that is not a transport's own.
    ///
    /// It must be fast: the thread may belong to the cooperative pool.
    func handle(_ event: RequestEvent)
}
