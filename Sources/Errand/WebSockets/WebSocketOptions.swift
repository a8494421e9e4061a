import ErrandHTTP
import ErrandWebSocket

/// How a WebSocket is opened, and its limits.
public struct WebSocketOptions: Sendable, Hashable {
    /// The subprotocols that the client speaks, the preferred one first (RFC 6455 §1.9); unique tokens.
    ///
    /// Default none. Errors: ``RequestError/Code/invalidConfiguration``. ``WebSocket/subprotocol`` is the server's
    /// choice.
    public var subprotocols: [String]
    /// The compression of messages (RFC 7692).
    ///
    /// Default ``Compression/deflate``. A server that does not support it gets and sends uncompressed messages.
    public var compression: Compression
    /// The maximum size of a received message in bytes, after decompression; `nil` means no limit.
    ///
    /// Default 1 MiB. A larger one closes the connection with 1009. ``WebSocket/fragments`` have no limit.
    public var maximumMessageBytes: Int?
    /// The time between two PINGs; `nil` sends none.
    ///
    /// Default 20 s. ``WebSocket/roundTrip`` is the time until the last PONG.
    public var pingInterval: Duration?
    /// The time without a byte of the server after a PING that closes the connection with 1011 (default 20 s).
    ///
    /// It does not count while ``WebSocket/messages`` are not read fast enough, because the connection is paused then,
    /// or while the task is suspended.
    public var pingTimeout: Duration
    /// The time that the server has for its close frame, and then for the end of the connection (default 5 s).
    public var closeTimeout: Duration

    /// Creates options; see the properties.
    public init(
        subprotocols: [String] = [], compression: Compression = .deflate,
        maximumMessageBytes: Int? = 1 << 20, pingInterval: Duration? = .seconds(20),
        pingTimeout: Duration = .seconds(20), closeTimeout: Duration = .seconds(5)
    ) {
        self.subprotocols = subprotocols
        self.compression = compression
        self.maximumMessageBytes = maximumMessageBytes
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
        self.closeTimeout = closeTimeout
    }

    /// The compression of messages.
    public enum Compression: Sendable, Hashable {
        /// No compression is offered.
        case none
        /// permessage-deflate; messages of fewer bytes than the threshold are sent without it.
        case deflate(threshold: Int)

        /// permessage-deflate for messages of at least 256 bytes.
        public static var deflate: Compression { .deflate(threshold: 256) }
    }
}

extension WebSocketOptions {
    var offer: DeflateExtension? {
        // Without zlib a compressed message could not be read.
        guard case .deflate(let threshold) = compression, ZlibLibrary.loaded != nil else {
            return nil
        }
        var offer = DeflateExtension()
        offer.threshold = max(1, threshold)
        return offer
    }

    var limits: WebSocketState.Limits {
        var limits = WebSocketState.Limits()
        // Until messages are read; fragments have no limit.
        limits.messageBytes = nil
        limits.pingInterval = pingInterval
        limits.pingTimeout = pingTimeout
        limits.closeTimeout = closeTimeout
        return limits
    }
}
