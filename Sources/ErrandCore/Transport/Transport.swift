/// What carries one exchange over the wire, and nothing else: no cache, no retry, no redirects.
///
/// For example, an agent over another transport:
///
///     let agent = RequestAgent(transport: URLSessionTransport())
public protocol Transport: Sendable {
    /// A short name for events and errors, such as `curl`.
    var name: String { get }

    /// Throws ``RequestError/Code/unsupported`` when this transport cannot carry the request as it is.
    ///
    /// Called before ``start(_:receiver:)``; nothing has been sent.
    func check(_ request: TransportRequest) throws(RequestError)

    /// Begins the exchange and returns at once.
    ///
    /// The receiver is held until its end was told, is called serially, and is told exactly one end, also
    /// when the transfer is cancelled or the transport shut down.
    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer

    /// Ends every transfer with ``RequestError/Code/agentShutDown``; later ones end with it at once.
    func shutDown()
}

/// A transfer under way.
///
/// Its methods may be called from any thread and at any time, also after the end.
public protocol Transfer: AnyObject, Sendable {
    /// Ends the transfer with ``RequestError/Code/cancelled``, unless it has ended.
    ///
    /// No bytes reach the receiver any more once the end was told; the end may come on another thread.
    func cancel()

    /// Takes up receiving after ``Demand/pause``.
    func resumeReceiving()
}

/// Whether the receiver wants more bytes now.
public enum Demand: Sendable, Hashable {
    /// Go on.
    case more
    /// Stop reading from the wire until ``Transfer/resumeReceiving()``. The bytes just given are taken.
    case pause
    /// Give up: the transfer ends with ``RequestError/Code/cancelled``.
    case stop
}

/// Who hears what a transfer brings.
///
/// Called serially, one call after the other, on the transport's own thread or, for the end, on one that takes the
/// ends of several exchanges together: never block here.
public protocol TransferReceiver: AnyObject, Sendable {
    /// An interim answer, 100 to 199 (RFC 9110 §15.2). 0 to n times, before the head.
    func didReceive(informational head: ResponseHead)

    /// The final head. Once, before any bytes; not when the transfer fails earlier.
    func didReceive(head: ResponseHead)

    /// Some bytes of the body, content encoding removed; valid during the call only.
    func didReceive(bytes: UnsafeRawBufferPointer) -> Demand

    /// How many bytes of the request's body have gone out so far.
    func didSend(bodyBytes: Int64)

    /// Pins that only report did not fit the peer's certificates; the exchange goes on.
    ///
    /// Before anything is sent.
    func didNotice(_ mismatch: PinMismatch)

    /// The one end. Nothing is called after it.
    func didEnd(_ end: TransferEnd)
}

extension TransferReceiver {
    /// Ignores interim answers.
    public func didReceive(informational head: ResponseHead) {}
    /// Ignores progress.
    public func didSend(bodyBytes: Int64) {}
    /// Ignores what pins report.
    public func didNotice(_ mismatch: PinMismatch) {}
}
