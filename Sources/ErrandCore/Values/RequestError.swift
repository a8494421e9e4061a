public import ErrandJSON
public import Foundation

/// Why a request did not succeed: what happened, where, and what to do about it.
///
/// One struct for everything that can go wrong. ``code`` says what, ``stage`` where in the pipeline;
/// the description is for people, says what to do and holds no secrets: no header values, no bodies, no query.
public struct RequestError: Error, Sendable {
    /// What went wrong.
    ///
    /// Compare with ``RequestError/Code``'s constants.
    public var code: Code {
        get { shared.value.code }
        set { change { $0.code = newValue } }
    }
    /// Where in the pipeline it went wrong.
    public var stage: Stage {
        get { shared.value.stage }
        set { change { $0.stage = newValue } }
    }
    /// What happened and what to do, in a sentence or two, without secrets.
    public var message: String {
        get { shared.value.message }
        set { change { $0.message = newValue } }
    }
    /// The answer, where there was one: status, headers and the error body (row RSP-6).
    public var response: Response? {
        get { shared.value.response }
        set { change { $0.response = newValue } }
    }
    /// The error beneath this one, where there is one.
    public var underlying: (any Error)? {
        get { shared.value.underlying }
        set { change { $0.underlying = newValue } }
    }
    /// How many attempts were made; 0 when nothing was sent.
    public var attempts: Int {
        get { shared.value.attempts }
        set { change { $0.attempts = newValue } }
    }
    /// Which limit ran out, when ``code`` is ``Code/timedOut``.
    public var timeout: TimeoutKind? {
        get { shared.value.timeout }
        set { change { $0.timeout = newValue } }
    }
    /// Where the answer departs from the shape, when ``code`` is ``Code/shapeMismatch``.
    public var shapeFault: JSONShapeFault? {
        get { shared.value.shapeFault }
        set { change { $0.shapeFault = newValue } }
    }
    /// Why the cache could not answer, when ``code`` is ``Code/cacheMiss``.
    public var cacheMiss: CacheMissReason? {
        get { shared.value.cacheMiss }
        set { change { $0.cacheMiss = newValue } }
    }
    /// What the endpoint's or the configuration's ``ErrorDecoder`` made of the answer's body.
    public var body: (any Sendable)? {
        get { shared.value.body }
        set { change { $0.body = newValue } }
    }
    /// The text of `Configuration.errorMessages` for people; `nil` where it has none.
    public var userMessage: String? {
        get { shared.value.userMessage }
        set { change { $0.userMessage = newValue } }
    }

    /// What the attempt cost that failed, where it got as far as the transport.
    public var timings: AttemptTimings? {
        get { shared.value.timings }
        set { change { $0.timings = newValue } }
    }

    /// Whether the server has said that it did not process the request, as HTTP/2 servers can (RFC 9113 §8.7).
    ///
    /// Then any method may be sent again, and a ``RetryPolicy`` does so. False where nothing is known.
    public var isUnprocessed: Bool {
        get { shared.value.isUnprocessed }
        set { change { $0.isUnprocessed = newValue } }
    }

    private struct Fields: Sendable {
        var code: Code
        var stage: Stage
        var message: String
        var response: Response?
        var underlying: (any Error)?
        var attempts: Int
        var timeout: TimeoutKind?
        var shapeFault: JSONShapeFault?
        var cacheMiss: CacheMissReason?
        var body: (any Sendable)?
        var userMessage: String?
        var timings: AttemptTimings?
        var isUnprocessed = false
    }

    private var shared: Shared<Fields>

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Makes an error.
    public init(
        _ code: Code, stage: Stage, _ message: String, response: Response? = nil,
        underlying: (any Error)? = nil, attempts: Int = 0, timeout: TimeoutKind? = nil,
        shapeFault: JSONShapeFault? = nil, cacheMiss: CacheMissReason? = nil
    ) {
        shared = Shared(
            Fields(
                code: code, stage: stage, message: message, response: response,
                underlying: underlying, attempts: attempts, timeout: timeout,
                shapeFault: shapeFault, cacheMiss: cacheMiss))
    }

    /// The part of the pipeline in which an error arose.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// Reading the endpoint's overrides and building the request from them.
        case build
        /// Filters, shared headers and arguments.
        case adapt
        /// Looking into the response store.
        case cache
        /// Waiting for a place.
        case schedule
        /// The network.
        case transport
        /// Status, content type and shape of the answer.
        case validate
        /// Turning the body into the output.
        case decode
        /// Processors.
        case process
        /// Cancelled by the caller.
        case cancel
    }

    /// Which limit of ``Timeouts`` ran out.
    public enum TimeoutKind: String, Sendable, Hashable {
        /// No connection within ``Timeouts/connect``.
        case connect
        /// Silence for longer than ``Timeouts/idle``.
        case idle
        /// One attempt took longer than ``RetryPolicy/attemptTimeout``.
        case attempt
        /// Everything together took longer than ``Timeouts/total``.
        case total
    }

    /// Whether the request was cancelled by its caller.
    public var isCancellation: Bool { code == .cancelled }

    /// The status of the answer, where there was one.
    public var status: HTTPResponse.Status? { response?.status }

    /// The decoded body of the answer, if it is of this type.
    public func body<Body>(as type: Body.Type = Body.self) -> Body? { body as? Body }

    /// The error everybody gets who is cancelled.
    public static var cancelled: RequestError {
        RequestError(.cancelled, stage: .cancel, "The request was cancelled.")
    }
}

extension RequestError: CustomStringConvertible, LocalizedError {
    /// What happened and what to do, with code and stage, without secrets.
    public var description: String {
        var text = "\(code) (\(stage.rawValue)): \(message)"
        if attempts > 1 { text += " After \(attempts) attempts." }
        return text
    }

    /// The text for people, ``userMessage``; without one the same as ``description``.
    public var errorDescription: String? { userMessage ?? description }

    /// What happened and what to do, for developers.
    public var failureReason: String? { message }
}
