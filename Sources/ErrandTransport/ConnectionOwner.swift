package import ErrandHTTP

/// A receiver that takes over the connection after 101 (Switching Protocols), RFC 9110 §7.8.
///
/// A request with the header `Upgrade` whose receiver conforms to this protocol accepts 101 with a header `Upgrade` as
/// its response. From then on its transfer carries the bytes of the other protocol:
///
/// - Input arrives by ``TransferReceiver/didReceive(bytes:)``, beginning with the bytes after the head.
///   ``Demand/pause`` and ``Transfer/resumeReceiving()`` apply; limits of the body's size, its codings and
///   ``Timeouts/idle`` do not.
/// - Output comes from the source that ``didSwitchProtocols(_:)`` returns. It is read when the socket accepts more
///   bytes. Its end ends the client's direction, its failure the transfer.
/// - ``Transfer/cancel()`` closes the connection at once.
/// - ``TransferReceiver/didEnd(_:)`` has no error if both sides have ended their directions.
///
/// Over HTTP/2, an extended CONNECT takes the place of 101 (RFC 8441): the transfer then carries the bytes of a stream.
/// If ``extendedProtocol`` names a protocol, it is used with ``TransportOptions/HTTPVersionPolicy/automatic`` on an open
/// connection whose server has allowed it, and always with the policies that require HTTP/2. Every other such request
/// offers the server HTTP/1.1 only, so that none is sent twice. For every other receiver, and with transports that hand
/// no connections over, 101 fails with ``RequestError/Code/badServerResponse``.
package protocol ConnectionOwner: TransferReceiver {
    /// Whether the connection is taken over after 101.
    var acceptsConnection: Bool { get }

    /// The `:protocol` of an extended CONNECT, such as `websocket`.
    ///
    /// Default: `nil`, for HTTP/1.1 only.
    var extendedProtocol: String? { get }

    /// Adds an observer of the messages of a WebSocket; called before ``didSwitchProtocols(_:)``.
    ///
    /// Default: does nothing.
    func addObserver(_ observer: any WebSocketObserver)

    /// Called with the head of the response, 101 or a success of CONNECT, instead of
    /// ``TransferReceiver/didReceive(head:)``; returns the bytes to send.
    func didSwitchProtocols(_ head: ResponseHead) -> any BodySource

    /// Called when the server has ended its direction; the client may continue to send.
    func didReceiveEnd()
}

extension ConnectionOwner {
    package var acceptsConnection: Bool { true }
    package var extendedProtocol: String? { nil }
    package func addObserver(_ observer: any WebSocketObserver) {}
}

/// Observes the messages of a WebSocket, which a transport sees as bytes only.
package protocol WebSocketObserver: AnyObject, Sendable {
    /// Whether events are wanted; read before each event is made.
    var observesWebSocket: Bool { get }

    /// Called with each event, in order and one at a time, on any thread; must not block.
    func observe(_ event: WebSocketEvent)
}
