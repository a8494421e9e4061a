public import ErrandSystem

/// An event of an open WebSocket.
///
/// Cases may be added, so a `switch` needs a default.
public enum WebSocketEvent: Sendable, Hashable {
    /// The server has accepted the WebSocket, with the subprotocol and the extensions of its response.
    case opened(subprotocol: String?, extensions: String?)
    /// A message was written to the connection, or has arrived completely.
    case message(Message)
    /// The server has sent the PONG of a PING; the time between them.
    case roundTrip(Duration)
    /// The connection is closed, or lost.
    case closed(WebSocketClose)

    /// A message of a WebSocket.
    public struct Message: Sendable, Hashable {
        /// The direction of a message.
        public enum Direction: String, Sendable, Hashable, CaseIterable {
            /// To the server.
            case sent
            /// From the server.
            case received
        }

        /// The direction.
        public var direction: Direction
        /// Whether the message is text; otherwise it is binary.
        public var isText: Bool
        /// The number of messages: 1, unless they were combined for a listener that is too slow.
        public var count: Int
        /// The number of bytes before compression.
        public var bytes: Int64
        /// The number of bytes of all frames, with their headers and after compression.
        public var bytesOnWire: Int64
        /// The bytes, for listeners that observe payloads.
        ///
        /// `nil` for other listeners, for combined messages, and for a message that was sent or read in pieces.
        public var payload: Data?

        /// Creates a value.
        public init(
            _ direction: Direction, isText: Bool, count: Int = 1, bytes: Int64, bytesOnWire: Int64,
            payload: Data? = nil
        ) {
            (self.direction, self.isText, self.count) = (direction, isText, count)
            (self.bytes, self.bytesOnWire, self.payload) = (bytes, bytesOnWire, payload)
        }
    }
}

extension WebSocketEvent {
    /// The event without the payload of a message.
    package var withoutPayload: WebSocketEvent {
        guard case .message(var message) = self, message.payload != nil else { return self }
        message.payload = nil
        return .message(message)
    }
}

extension WebSocketEvent.Message {
    /// Adds the messages of an event of the same kind; returns false for another kind.
    package mutating func absorb(_ next: Self) -> Bool {
        guard direction == next.direction, isText == next.isText else { return false }
        count += next.count
        bytes += next.bytes
        bytesOnWire += next.bytesOnWire
        payload = nil
        return true
    }
}
