public import ErrandJSON

/// The error of a failed request: what failed, at which stage, and what to do about it.
///
/// Every failed request throws this type. ``code`` identifies the failure, ``stage`` the step of the
/// pipeline. The description contains no secrets: no header values, no bodies and no query.
public struct RequestError: Error, Sendable {
    /// The kind of failure.
    ///
    /// Compare it with the constants of ``RequestError/Code``.
    public var code: Code {
        get { shared.value.code }
        set { change { $0.code = newValue } }
    }
    /// The stage of the pipeline at which the request failed.
    public var stage: Stage {
        get { shared.value.stage }
        set { change { $0.stage = newValue } }
    }
    /// The failure and how to resolve it, in one or two sentences, without secrets.
    public var message: String {
        get { shared.value.message }
        set { change { $0.message = newValue } }
    }
    /// The response, if there was one: the status, the headers and the error body.
    public var response: Response? {
        get { shared.value.response }
        set { change { $0.response = newValue } }
    }
    /// The underlying error, if there is one.
    public var underlying: (any Error)? {
        get { shared.value.underlying }
        set { change { $0.underlying = newValue } }
    }
    /// The number of attempts; 0 if nothing was sent.
    public var attempts: Int {
        get { shared.value.attempts }
        set { change { $0.attempts = newValue } }
    }
    /// The errors of the earlier attempts of the request, oldest first.
    ///
    /// Default none. At most ``maximumPreviousErrors`` errors are kept, the latest ones; they have no previous
    /// errors of their own.
    public var previousErrors: [RequestError] {
        get { shared.value.previousErrors }
        set { change { $0.previousErrors = newValue } }
    }
    /// The responses of the requests that had succeeded before the step with which a chain failed, in order.
    ///
    /// Default none. For a chain within a chain, those of the outer chain come first. `ChainRequest.failedStep` has
    /// those of its own chain.
    public var precedingResponses: [Response] {
        get { shared.value.precedingResponses }
        set { change { $0.precedingResponses = newValue } }
    }
    /// The type name of the endpoint that failed, such as `GetUser`.
    ///
    /// Set at the latest when the request ends; `nil` for an error that belongs to no request. If a hook throws
    /// the error of another request, this is the endpoint of that request.
    public var endpoint: String? {
        get { shared.value.endpoint }
        set { change { $0.endpoint = newValue } }
    }
    /// The method of the request that failed; `nil` for an error that belongs to no request.
    public var method: HTTPMethod? {
        get { shared.value.method }
        set { change { $0.method = newValue } }
    }
    /// The URL of the request that failed, without user info, query and fragment.
    ///
    /// Before redirects; the response's URL is that after them. `nil` for an error that belongs to
    /// no request, if the URL is invalid, or for a member that a batch did not start.
    public var url: HTTPURL? {
        get { shared.value.url }
        set { change { $0.url = newValue } }
    }
    /// The limit that was exceeded if ``code`` is ``Code/timedOut``.
    public var timeout: TimeoutKind? {
        get { shared.value.timeout }
        set { change { $0.timeout = newValue } }
    }
    /// The first difference from the expected shape if ``code`` is ``Code/shapeMismatch``.
    public var shapeFault: JSONShape.Fault? {
        get { shared.value.shapeFault }
        set { change { $0.shapeFault = newValue } }
    }
    /// The reason why the cache had no usable response if ``code`` is ``Code/cacheMiss``.
    public var cacheMiss: CacheMissReason? {
        get { shared.value.cacheMiss }
        set { change { $0.cacheMiss = newValue } }
    }
    /// The value that the endpoint's or the configuration's ``ErrorDecoder`` decoded from the response's body.
    public var body: (any Sendable)? {
        get { shared.value.body }
        set { change { $0.body = newValue } }
    }
    /// The message of `Configuration.userMessage` for users; `nil` if there is none.
    public var userMessage: String? {
        get { shared.value.userMessage }
        set { change { $0.userMessage = newValue } }
    }

    /// The timings of the failed attempt; `nil` if it did not reach the transport.
    public var timings: AttemptTimings? {
        get { shared.value.timings }
        set { change { $0.timings = newValue } }
    }

    /// The number of bytes of a streamed body that had arrived, after content decoding; `nil` if the
    /// request failed before its response was streamed.
    public var bytesReceived: Int64? {
        get { shared.value.bytesReceived }
        set { change { $0.bytesReceived = newValue } }
    }

    /// The end of a WebSocket if ``code`` is ``Code/webSocketClosed``.
    public var webSocketClose: WebSocketClose? {
        get { shared.value.webSocketClose }
        set { change { $0.webSocketClose = newValue } }
    }

    /// Whether the server stated that it did not process the request, as HTTP/2 allows (RFC 9113 §8.7).
    ///
    /// If true, requests with any method can be retried, and a ``RetryPolicy`` does so. False if unknown.
    public var isUnprocessed: Bool {
        get { shared.value.isUnprocessed }
        set { change { $0.isUnprocessed = newValue } }
    }

    /// Whether validation failed, so that another endpoint's rules could accept the same response.
    package var isValidationFailure: Bool {
        get { shared.value.isValidationFailure }
        set { change { $0.isValidationFailure = newValue } }
    }

    private struct Fields: Sendable {
        var code: Code
        var stage: Stage
        var message: String
        var response: Response?
        var underlying: (any Error)?
        var attempts: Int
        var timeout: TimeoutKind?
        var shapeFault: JSONShape.Fault?
        var cacheMiss: CacheMissReason?
        var body: (any Sendable)?
        var userMessage: String?
        var timings: AttemptTimings?
        var bytesReceived: Int64?
        var webSocketClose: WebSocketClose?
        var isUnprocessed = false
        var isValidationFailure = false
        var previousErrors: [RequestError] = []
        var precedingResponses: [Response] = []
        var endpoint: String?
        var method: HTTPMethod?
        var url: HTTPURL?
    }

    private var shared: Shared<Fields>

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Creates an error.
    public init(
        _ code: Code, stage: Stage, _ message: String, response: Response? = nil,
        underlying: (any Error)? = nil, attempts: Int = 0, timeout: TimeoutKind? = nil,
        shapeFault: JSONShape.Fault? = nil, cacheMiss: CacheMissReason? = nil
    ) {
        shared = Shared(
            Fields(
                code: code, stage: stage, message: message, response: response,
                underlying: underlying, attempts: attempts, timeout: timeout,
                shapeFault: shapeFault, cacheMiss: cacheMiss))
    }

    /// The stage of the pipeline at which a request failed.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// Reading the endpoint's overrides and building the request from them.
        case build
        /// Running filters and adding shared headers and arguments.
        case adapt
        /// Reading the response store.
        case cache
        /// Waiting for a concurrency permit.
        case schedule
        /// Sending the request and receiving the response.
        case transport
        /// Checking the status, the content type and the shape of the response.
        case validate
        /// Decoding the body as the output type.
        case decode
        /// Running response processors.
        case process
        /// Cancellation by the caller.
        case cancel
    }

    /// The limit of ``Timeouts`` or ``RetryPolicy`` that was exceeded.
    public enum TimeoutKind: String, Sendable, Hashable {
        /// The connection was not established within ``Timeouts/connect``.
        case connect
        /// No byte was sent or received for longer than ``Timeouts/idle``.
        case idle
        /// The attempt took longer than ``RetryPolicy/attemptTimeout``.
        case attempt
        /// The request took longer than ``Timeouts/total``.
        case total
    }

    /// Whether the request was cancelled.
    public var isCancellation: Bool { code == .cancelled }

    /// The status of the response, if there was one.
    public var status: HTTPResponse.Status? { response?.status }

    /// The decoded error body if it has this type, otherwise `nil`.
    public func body<Body>(as type: Body.Type = Body.self) -> Body? { body as? Body }

    /// The error of a cancelled request.
    public static var cancelled: RequestError {
        RequestError(.cancelled, stage: .cancel, "The request was cancelled.")
    }
}

extension RequestError {
    /// Two settings of an endpoint contradict each other.
    package static func invalidCombination(_ message: String) -> RequestError {
        RequestError(.invalidCombination, stage: .build, message)
    }
}
