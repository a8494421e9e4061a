package import ErrandHTTP

/// Keeps what one request does, at a lower cost than its events; `ErrandInspector` implements it.
///
/// A request has at most one, which may be a ``RequestCapturePair``. It is a class, so that a request without one has
/// room for a reference only.
package protocol RequestCapture: AnyObject, Sendable {
    /// Whether the request emits events, although no other listener may need them.
    var observesEvents: Bool { get }

    /// Whether ``intervention(in:attempt:)`` may return something; read before each transfer.
    var intervenes: Bool { get }

    /// Returns what happens in place of a transfer; `nil` sends the request.
    ///
    /// The pipeline treats the result as that of the transport.
    func intervention(in request: TransportRequest, attempt: Int) -> TransferIntervention?

    /// Called when a request is handed to the transport.
    ///
    /// - Returns: The number of the transfer for ``transferEnded(_:_:_:_:_:)``.
    func transferStarted(_ request: TransportRequest, attempt: Int) -> Int

    /// Returns the transport that performs a transfer in place of the agent's one; `nil` for that one.
    ///
    /// Called after ``transferStarted(_:attempt:)``, in the same Swift task.
    func transport(of transfer: Int, over transport: any Transport) -> (any Transport)?

    /// Called when the connection of a transfer is known, on a thread of the transport; again for a further connection.
    func transferUses(_ connection: Response.Connection, _ transfer: Int)

    /// Called with each event of the WebSocket of a transfer, in order; messages have their payload.
    func webSocket(_ event: WebSocketEvent, _ transfer: Int)

    /// Called once at the end of a transfer.
    ///
    /// - Parameters:
    ///   - head: The head; `nil` if there was no response.
    ///   - body: The body; `nil` if it was read while it arrived, or not received.
    ///   - error: The error of the transfer or of its receiver.
    func transferEnded(
        _ transfer: Int, _ head: ResponseHead?, _ body: Response.Body?, _ error: RequestError?,
        _ end: Shared<TransferEnd>)

    /// Called once, before event listeners receive the end of the request.
    ///
    /// - Parameter cacheMiss: Why the store had no usable response; `nil` if it had one, or was not asked.
    func requestEnded(_ result: Result<Response, RequestError>, _ cacheMiss: CacheMissReason?)
}

/// Takes the place of a transfer, and may call its argument once, which sends the request.
///
/// It runs in a Swift task that is cancelled with the request.
package typealias TransferIntervention =
    @Sendable (@Sendable () async throws(RequestError) -> Response) async throws -> Response

/// Receives the response, without a streamed body, and the end of a transfer.
package typealias TransferObserver = @Sendable (Response?, TransferEnd) -> Void
