/// How long the phases of one attempt took and how many bytes went over the wire.
///
/// Times are counted from the start of the attempt. A phase that did not happen, such as DNS on a reused
/// connection, or that the transport cannot tell, is `nil`.
public struct AttemptTimings: Sendable, Hashable {
    /// When the transport took the attempt up, after waiting in queues.
    public var queued: Duration?
    /// When the host's address was known.
    public var nameLookedUp: Duration?
    /// When the TCP connection, or the one to the proxy, was there.
    public var connected: Duration?
    /// When the TLS handshake was done.
    public var secured: Duration?
    /// When the first byte of the answer came.
    public var firstByte: Duration?
    /// When the attempt ended.
    public var finished: Duration?
    /// Bytes of head and body sent.
    public var bytesSent: Int64
    /// Bytes of the body received, before decoding.
    public var bytesReceived: Int64
    /// Bytes of heads and trailers received, interim ones and a proxy's to CONNECT among them; over HTTP/2 before
    /// compression, and 0 where the transport cannot tell.
    public var headBytesReceived: Int64
    /// Whether a connection of an earlier request was used; `nil` where the transport cannot tell.
    public var reusedConnection: Bool?

    /// Makes timings in which nothing is known.
    public init() {
        bytesSent = 0
        bytesReceived = 0
        headBytesReceived = 0
    }
}
