public import ErrandHTTP
public import ErrandSystem

/// The server's side of a WebSocket in a test: the messages that it expects and sends, in order.
///
///     transport.on(.get, "/prices", .webSocket { server in
///         server.expect("subscribe SWFT")
///         server.send("SWFT 9.50")
///         server.close(.goingAway)
///     })
///
/// ``ScriptedTransport`` performs it without a network, ``LoopbackServer`` over a socket. PINGs get PONGs and
/// fragments are joined. After the last step, the connection stays open until the client closes it.
///
/// A message that no step expects ends the connection with an error that names the step and the message, which is also
/// listed in ``ScriptedTransport/failures`` and ``LoopbackServer/failures``. So does a client that closes before the
/// last `expect`. The connection has no compression. A refusal is an ordinary response, such as `.init(status: 403)`.
public struct WebSocketScript: Sendable {
    /// A message: text, which is also a string literal, or bytes.
    public enum Message: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// Text.
        case text(String)
        /// Bytes.
        case binary(Data)

        /// Creates a text.
        public init(stringLiteral text: String) { self = .text(text) }
    }

    enum Step: Sendable {
        case expect(String, @Sendable (Message) -> Bool)
        case expectClose(WebSocketClose.Code?)
        case send(Data)
        case respond(@Sendable (Message) -> [Message])
        case hold(Gate)
        case close(Data)
        case disconnect
    }

    /// The subprotocol that the server selects (default none).
    public var subprotocol: String?
    /// Header fields of the 101 response that are added, or that replace the usual ones; an empty value removes one.
    ///
    /// For example `["Sec-WebSocket-Accept": "wrong"]`. Default none.
    public var headers: [String: String] = [:]
    var steps: [Step] = []

    /// Creates a script without steps, which accepts the connection and waits until the client closes it.
    public init() {}

    /// Creates a script by a closure.
    public init(_ build: (inout Self) -> Void) { build(&self) }

    /// Expects a message.
    public mutating func expect(_ message: Message) {
        steps.append(.expect(message.shown) { $0 == message })
    }

    /// Expects a message with a property.
    ///
    /// - Parameters:
    ///   - description: The property, for the error, such as `a subscription`.
    ///   - isExpected: Whether the message has it.
    public mutating func expect(
        _ description: String, where isExpected: @escaping @Sendable (Message) -> Bool
    ) {
        steps.append(.expect(description, isExpected))
    }

    /// Expects that the client closes the connection, and responds to it.
    ///
    /// - Parameter code: The client's code; `nil`, the default, for any.
    public mutating func expectClose(_ code: WebSocketClose.Code? = nil) {
        steps.append(.expectClose(code))
    }

    /// Sends a message.
    public mutating func send(_ message: Message) {
        steps.append(.send(WebSocketFrames.message(message)))
    }

    /// Sends a message in frames that end at these texts.
    public mutating func send(fragments: [String]) {
        for (index, text) in fragments.enumerated() {
            steps.append(
                .send(
                    WebSocketFrames.frame(
                        index == 0 ? 1 : 0, Data(text.utf8), isFinal: index == fragments.count - 1))
            )
        }
    }

    /// Sends a PING with a payload of at most 125 bytes.
    public mutating func ping(_ payload: Data = Data()) {
        steps.append(.send(WebSocketFrames.frame(9, payload.prefix(125))))
    }

    /// Sends bytes that a client must refuse.
    public mutating func send(_ frame: HostileFrame) { steps.append(.send(frame.bytes)) }

    /// Sends bytes unchanged.
    public mutating func send(bytes: Data) { steps.append(.send(bytes)) }

    /// Responds to every further message with messages; no step follows.
    public mutating func respond(_ response: @escaping @Sendable (Message) -> [Message]) {
        steps.append(.respond(response))
    }

    /// Returns every further message; no step follows.
    public mutating func echo() { respond { [$0] } }

    /// Stalls the server until the gate is open: it reads nothing, and PINGs get no PONG.
    public mutating func hold(_ gate: Gate) { steps.append(.hold(gate)) }

    /// Sends a close frame, and waits for that of the client, whose messages are ignored.
    ///
    /// - Parameters:
    ///   - code: The code, valid or not. Default ``WebSocketClose/Code/normal``; `nil` sends none.
    ///   - reason: At most 123 bytes of it are sent.
    public mutating func close(_ code: WebSocketClose.Code? = .normal, reason: String = "") {
        steps.append(.close(WebSocketFrames.close(code, reason)))
    }

    /// Ends the connection without a close frame.
    public mutating func disconnect() { steps.append(.disconnect) }
}

extension WebSocketScript.Message {
    /// The message in an error.
    var shown: String {
        switch self {
        case .text(let text):
            text.utf8.count > 200 ? "text of \(text.utf8.count) bytes" : "text '\(text)'"
        case .binary(let bytes): "binary message of \(bytes.count) bytes"
        }
    }
}

/// Bytes of a server that a client must refuse (RFC 6455).
public enum HostileFrame: String, Sendable, CaseIterable {
    /// A masked text (§5.1).
    case masked
    /// A reserved bit without an extension (§5.2).
    case reservedBit
    /// A frame with an unknown opcode (§5.2).
    case unknownOpcode
    /// A length in eight bytes that would fit into one (§5.2).
    case longLength
    /// A length with its highest bit (§5.2).
    case negativeLength
    /// The header of a binary message of 4 EiB.
    case hugeMessage
    /// A PING in fragments (§5.5).
    case fragmentedPing
    /// A PING of 126 bytes (§5.5).
    case longPing
    /// A continuation without a message (§5.4).
    case strayContinuation
    /// A text within another one (§5.4).
    case interleavedText
    /// Text that is not UTF-8 (§5.6).
    case invalidText
    /// A close frame with one byte (§5.5.1).
    case halfCode
    /// A close frame with the code 1005, which none may have (§7.4.1).
    case invalidCode
    /// A close frame whose reason is not UTF-8 (§5.5.1).
    case invalidReason

    /// The bytes.
    public var bytes: Data {
        switch self {
        case .masked: Data([0x81, 0x81, 1, 2, 3, 4, 0x60])
        case .reservedBit: Data([0xC1, 1, 0x61])
        case .unknownOpcode: Data([0x83, 0])
        case .longLength: Data([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 1, 0x61])
        case .negativeLength: Data([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 1])
        case .hugeMessage: Data([0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0])
        case .fragmentedPing: Data([0x09, 0])
        case .longPing: Data([0x89, 126, 0, 126] + [UInt8](repeating: 0x61, count: 126))
        case .strayContinuation: Data([0x80, 1, 0x61])
        case .interleavedText: Data([0x01, 1, 0x61, 0x81, 1, 0x62])
        case .invalidText: Data([0x81, 1, 0xFF])
        case .halfCode: Data([0x88, 1, 3])
        case .invalidCode: Data([0x88, 2, 0x03, 0xED])
        case .invalidReason: Data([0x88, 3, 0x03, 0xE8, 0xFF])
        }
    }

    /// The code of the client's close frame.
    public var closeCode: WebSocketClose.Code {
        switch self {
        case .hugeMessage: .messageTooBig
        case .invalidText, .invalidReason: .invalidPayload
        default: .protocolError
        }
    }
}
