/// The time at which each phase of an attempt ended, and the number of bytes sent and received.
///
/// Times are measured from the start of the attempt. A phase is `nil` if it did not happen, such as DNS on a
/// reused connection, or if the transport does not report it.
public struct AttemptTimings: Sendable, Hashable {
    /// The time at which the transport started the attempt, after it had waited in queues.
    public var queued: Duration?
    /// The time at which the host name was resolved.
    public var nameLookedUp: Duration?
    /// The time at which the TCP connection to the server or proxy was established.
    public var connected: Duration?
    /// The time at which the TLS handshake was complete.
    public var secured: Duration?
    /// The time at which the first byte of the response arrived.
    public var firstByte: Duration?
    /// The time at which the attempt ended.
    public var finished: Duration?
    /// The number of bytes of the head and the body that were sent.
    public var bytesSent: Int64
    /// The number of body bytes that were received, before content decoding.
    public var bytesReceived: Int64
    /// The number of bytes of heads and trailers that were received; 0 if the transport does not report it.
    ///
    /// Includes interim responses and a proxy's response to CONNECT. Over HTTP/2, the size before header
    /// compression.
    public var headBytesReceived: Int64
    /// Whether the attempt reused a connection; `nil` if the transport does not report it.
    public var reusedConnection: Bool?

    /// Creates timings without any values.
    public init() {
        bytesSent = 0
        bytesReceived = 0
        headBytesReceived = 0
    }
}
