package import ErrandTransport

/// The owner of a connection whose protocol a streamed request changes (RFC 9110 §7.8).
///
/// It belongs to one task. Bytes do not pass the body of the stream, which ends with the connection.
package protocol ConnectionUpgrade: AnyObject, Sendable {
    /// The `:protocol` of an extended CONNECT (RFC 8441); `nil` for HTTP/1.1 only.
    var extendedProtocol: String? { get }

    /// Sets the fields that offer the protocol; called before each transfer.
    func prepare(_ request: inout TransportRequest)

    /// Called with the head of the response, 101 or a success of CONNECT; returns the bytes to send.
    ///
    /// - Parameters:
    ///   - observers: The observers of messages, until the end of the connection.
    ///   - transfer: The transfer; hold it weakly.
    /// - Throws: The error with which the transfer ends, if the response does not accept the offer.
    func begin(
        _ head: ResponseHead, observers: [any WebSocketObserver], transfer: any UpgradedTransfer
    ) throws(RequestError) -> any BodySource

    /// Called with bytes of the server, which are valid only during the call.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Demand

    /// Called when the server has ended its direction.
    func receiveEnd()

    /// Called once with the end of the connection; returns the failure of the transfer, `nil` if the protocol has
    /// ended before.
    func end(_ error: RequestError?) -> RequestError?
}

/// The transfer of a connection that was taken over.
package protocol UpgradedTransfer: AnyObject, Sendable {
    /// Whether its task is suspended, so that nothing is read.
    var isSuspended: Bool { get }

    /// Continues to read after ``Demand/pause``.
    func resumeReading()

    /// Ends the transfer at once.
    func cancel()
}
