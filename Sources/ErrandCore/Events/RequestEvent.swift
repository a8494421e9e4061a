public import ErrandHTTP
public import ErrandSystem
public import HTTPTypes

/// An event of a request, with a timestamp.
public struct RequestEvent: Sendable {
    /// What all events of a request have in common: one reference, so that an event costs little.
    @usableFromInline package struct Origin: Sendable {
        var taskID: UUID
        var endpoint: String
        var endpointType: ObjectIdentifier?
        var tag: Int
        var metadata: RequestMetadata

        package init(
            taskID: UUID, endpoint: String, endpointType: ObjectIdentifier?, tag: Int,
            metadata: RequestMetadata
        ) {
            self.taskID = taskID
            self.endpoint = endpoint
            self.endpointType = endpointType
            self.tag = tag
            self.metadata = metadata
        }
    }

    @usableFromInline package var origin: Shared<Origin>

    /// The identifier of the task.
    public var taskID: UUID {
        get { origin.value.taskID }
        set { change { $0.taskID = newValue } }
    }
    /// The endpoint's type name, such as `GetUser`.
    public var endpoint: String {
        get { origin.value.endpoint }
        set { change { $0.endpoint = newValue } }
    }
    /// The endpoint's tag.
    public var tag: Int {
        get { origin.value.tag }
        set { change { $0.tag = newValue } }
    }
    /// The time of the event on the agent's clock (``RequestClock/uptime``).
    public var uptime: Duration
    /// The kind of event.
    public var kind: Kind
    /// The typed values that were attached to the request.
    public var metadata: RequestMetadata {
        get { origin.value.metadata }
        set { change { $0.metadata = newValue } }
    }
    /// The response that the request delivers; `nil` except for ``Kind/ended(_:)`` without an error.
    ///
    /// The body of a streamed response has been read by then, and is not included.
    public var response: Response?
    /// The endpoint's type, if an endpoint described the request.
    package var endpointType: ObjectIdentifier? { origin.value.endpointType }

    private mutating func change(_ change: (inout Origin) -> Void) {
        origin = origin.changed(change)
    }

    /// Creates an event of a request.
    ///
    /// Inlined, because otherwise the event is copied once more, and its references are counted.
    @inlinable package init(
        _ origin: Shared<Origin>, uptime: Duration, kind: Kind, response: Response? = nil
    ) {
        self.origin = origin
        self.uptime = uptime
        self.kind = kind
        self.response = response
    }

    package init(
        taskID: UUID, endpoint: String, endpointType: ObjectIdentifier? = nil, tag: Int,
        uptime: Duration, kind: Kind, metadata: RequestMetadata = RequestMetadata(),
        response: Response? = nil
    ) {
        self.init(
            Shared(
                Origin(
                    taskID: taskID, endpoint: endpoint, endpointType: endpointType, tag: tag,
                    metadata: metadata)),
            uptime: uptime, kind: kind, response: response)
    }

    /// The kind of event.
    ///
    /// Cases may be added, so a `switch` needs a default.
    public enum Kind: Sendable {
        /// The task started.
        case started
        /// The request was built; the URL has no user info, query and fragment.
        case adapted(method: HTTPMethod, url: HTTPURL)
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
        /// The response is not stored, although the request may use the store, with the reason.
        case cacheNotStored(StoreRefusal)
        /// The store has removed this number of entries to make room, since the last event of this kind.
        ///
        /// Emitted after a write, by stores that count their evictions. For a store that several agents or processes
        /// share, the entries may be theirs.
        case cacheEvicted(entries: Int)
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
        /// A request was handed to the transport; the URL has no user info, query and fragment.
        ///
        /// This is the attempt's first request, one after a redirect, or one with refreshed credentials.
        case transferStarted(attempt: Int, url: HTTPURL)
        /// An interim response (100...199) was received.
        case informational(attempt: Int, HTTPResponse.Status)
        /// A phase ended at this time after the transfer's start; emitted when the transfer ends.
        case phase(attempt: Int, Phase, after: Duration)
        /// A transfer ended, with its timings, and an error if it failed.
        indirect case transferEnded(attempt: Int, AttemptTimings, RequestError?)
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
        indirect case pinMismatch(PinMismatch)
        /// Public suffixes are incomplete, because libpsl is not installed.
        ///
        /// Emitted once for each cookie jar without a list of its own, by the first response that sets a
        /// cookie.
        case publicSuffixesIncomplete
        /// The transfer uses a new connection; emitted before the request is sent on it.
        ///
        /// The opening may have begun for another request. Transports that do not report connections emit none of the
        /// events of connections: `URLSessionTransport`, because URLSession does not show which connection it uses.
        indirect case connectionOpened(attempt: Int, Response.Connection)
        /// The transfer uses a connection that has carried earlier requests; emitted before the request is sent on it.
        indirect case connectionReused(attempt: Int, Response.Connection)
        /// A part of the request body was sent; only for listeners with ``RequestEventListener/observesChunks``.
        ///
        /// The transport determines the parts: what it gives to the operating system, or to libcurl, at once.
        case chunkSent(attempt: Int, bytes: Int64)
        /// A part of the response body was received, with its size after content decoding; only for listeners with
        /// ``RequestEventListener/observesChunks``.
        case chunkReceived(attempt: Int, bytes: Int64)
        /// The progress of the request has changed; only for listeners with ``RequestEventListener/observesProgress``.
        ///
        /// At most ten times a second for a request; the last value comes before ``ended(_:)``.
        indirect case progress(TransferProgress)
        /// A response head was received.
        case headReceived(attempt: Int, HTTPResponse.Status)
        /// A redirect is followed to this URL, given without user info, query and fragment.
        case redirected(to: HTTPURL, HTTPResponse.Status)
        /// An attempt ended, with its timings, and an error if it failed.
        indirect case attemptEnded(Int, AttemptTimings, RequestError?)
        /// Another attempt follows after a delay.
        case retrying(after: Duration, RequestError)
        /// A download resumes at this offset.
        case resumed(offset: Int64)
        /// An event of the request's WebSocket: opened, a message, a round trip, closed.
        ///
        /// Messages have a payload only for listeners with ``RequestEventListener/observesMessagePayloads``.
        indirect case webSocket(WebSocketEvent)
        /// The response passed validation, or failed with this error.
        case validated(RequestError?)
        /// The task ended.
        case ended(RequestError?)
        /// An event of another version of Errand, with its name; only decoding creates it.
        case unknown(String)
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

extension RequestEvent {
    /// Why a response is not stored.
    public enum StoreRefusal: String, Sendable, Hashable, CaseIterable {
        /// RFC 9111 does not allow it, or the response could never be used.
        case notAllowed
        /// The closure `responseToStore` of the endpoint or the configuration refused it.
        case refusedByClosure
        /// The request has no cache key, because its body is a file or a stream.
        case noKey
        /// The body is the file of a download.
        case isFile
        /// The response varies by a field that is not known to the store, such as the `Authorization` of an authenticator.
        case unknownVariant
    }
}

/// Receives the events of requests; cannot change them.
public protocol RequestEventListener: Sendable {
    /// Called for each event, in order for each task, on any thread that is not a transport's own.
    ///
    /// It must be fast: the thread may belong to the cooperative pool.
    func handle(_ event: RequestEvent)

    /// Called when the agent's transport has opened or closed a connection, in order, on a thread of its own.
    ///
    /// These events belong to no request: a connection is opened before the request that uses it is known, and it is
    /// usually closed while it is idle. Default: does nothing. Transports that do not report connections, such as
    /// `URLSessionTransport`, cause no call.
    func handleConnection(_ event: ConnectionEvent)

    /// Whether the listener receives ``RequestEvent/Kind/chunkSent(attempt:bytes:)`` and
    /// ``RequestEvent/Kind/chunkReceived(attempt:bytes:)``.
    ///
    /// Read when the configuration is set. Default false, because a large body has very many.
    var observesChunks: Bool { get }

    /// Whether the listener receives ``RequestEvent/Kind/progress(_:)``, the progress of all requests of its agents.
    ///
    /// Read when the configuration is set. Default false, because it costs a timer and a measurement for each request.
    var observesProgress: Bool { get }

    /// Whether the messages of WebSockets that the listener receives have their payload.
    ///
    /// Read when the configuration is set. Default false, because payloads may contain secrets and occupy memory.
    var observesMessagePayloads: Bool { get }
}

extension RequestEventListener {
    /// Ignores connections.
    public func handleConnection(_ event: ConnectionEvent) {}
    /// Receives no events of parts of bodies.
    public var observesChunks: Bool { false }
    /// Receives no events of progress.
    public var observesProgress: Bool { false }
    /// Receives messages without payload.
    public var observesMessagePayloads: Bool { false }
}
