/// The meaning of a frame (RFC 6455 §5.2, §11.8).
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether frames of this kind may arrive between the fragments of a message (RFC 6455 §5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }
}
