/// Sends single requests over the network and reports their responses, without cache, retries or
/// redirects.
///
/// For example, an agent with another transport:
///
///     let agent = RequestAgent(transport: URLSessionTransport())
public protocol Transport: Sendable {
    /// A short name for events and errors, such as `curl`.
    var name: String { get }

    /// Checks whether this transport can perform a request.
    ///
    /// Called before ``start(_:receiver:)``; nothing has been sent.
    ///
    /// - Throws: ``RequestError/Code/unsupported`` if it cannot.
    func check(_ request: TransportRequest) throws(RequestError)

    /// Starts a transfer and returns at once.
    ///
    /// The transport retains the receiver until it has called ``TransferReceiver/didEnd(_:)``. It
    /// calls the receiver serially, and calls `didEnd` exactly once, also if the transfer is
    /// cancelled or the transport is shut down.
    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer

    /// Ends every transfer with ``RequestError/Code/agentShutDown``, and closes all connections; later transfers fail
    /// with it at once.
    func shutDown()
}

/// A transfer in progress.
///
/// The methods may be called from any thread and at any time, also after the end.
public protocol Transfer: AnyObject, Sendable {
    /// Ends the transfer with ``RequestError/Code/cancelled``, unless it has ended.
    ///
    /// The receiver is called with the end, possibly on another thread, and not after it.
    func cancel()

    /// Continues receiving after ``Demand/pause``.
    func resumeReceiving()
}

/// Whether the receiver accepts more bytes now.
public enum Demand: Sendable, Hashable {
    /// Continue receiving.
    case more
    /// Stop reading from the network until ``Transfer/resumeReceiving()``.
    ///
    /// The bytes of this call count as received.
    case pause
    /// Stop the transfer: it ends with ``RequestError/Code/cancelled``.
    case stop
}

/// Receives the response of a transfer.
///
/// The methods are called serially, on a thread of the transport, or on the thread that starts the
/// transfer or reads its body. `didEnd` may be called on another thread, which also delivers the ends
/// of other transfers. No method may block.
public protocol TransferReceiver: AnyObject, Sendable {
    /// Called for each interim response, 100 to 199 (RFC 9110 §15.2), before the final head.
    func didReceive(informational head: ResponseHead)

    /// Called once with the final head, before any bytes; not if the transfer fails earlier.
    func didReceive(head: ResponseHead)

    /// Called with bytes of the body, after content decoding; they are valid only during the call.
    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand

    /// Called before the request is sent on a connection; again if it is sent again on another one.
    ///
    /// Transports that do not know their connections do not call it.
    func willSend(over connection: Response.Connection, isReused: Bool)

    /// Called with the number of bytes of the request's body that were sent so far.
    func didSend(bodyBytes: Int64)

    /// Called before anything is sent if the peer's certificates do not match a report-only pin;
    /// the transfer continues.
    func didNotice(_ mismatch: PinMismatch)

    /// Called once with the end of the transfer; nothing follows it.
    func didEnd(_ end: TransferEnd)

    /// The time for which the receiver has been waiting for bytes of the body; `nil` while it does
    /// not wait for any, so that ``Timeouts/idle`` does not count.
    ///
    /// Read on any thread, when the idle timeout is about to end the transfer: the timeout counts
    /// from the last activity or from the beginning of the wait, whichever is later. Default: waits
    /// since the beginning.
    var waitingTime: Duration? { get }
}

extension TransferReceiver {
    /// Ignores interim responses.
    public func didReceive(informational head: ResponseHead) {}
    /// Ignores connections.
    public func willSend(over connection: Response.Connection, isReused: Bool) {}
    /// Ignores progress.
    public func didSend(bodyBytes: Int64) {}
    /// Ignores mismatches of report-only pins.
    public func didNotice(_ mismatch: PinMismatch) {}
    /// Has always been waiting: the idle timeout counts from the last activity.
    public var waitingTime: Duration? { .seconds(Int64.max) }
}
