import ErrandHTTP
import ErrandSystem

/// The frames of a server (RFC 6455 §5.2), apart from the client's code so that no fault is on both sides.
enum WebSocketFrames {
    static func frame(_ opcode: UInt8, _ payload: Data, isFinal: Bool = true) -> Data {
        var bytes = Data([isFinal ? 0x80 | opcode : opcode])
        switch payload.count {
        case ..<126: bytes.append(UInt8(payload.count))
        case ...0xFFFF: bytes += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(127)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        return bytes + payload
    }

    static func message(_ message: WebSocketScript.Message) -> Data {
        switch message {
        case .text(let text): frame(1, Data(text.utf8))
        case .binary(let bytes): frame(2, bytes)
        }
    }

    static func close(_ code: WebSocketClose.Code?, _ reason: String) -> Data {
        guard let code else { return frame(8, Data()) }
        var text = reason
        while text.utf8.count > 123 { text.removeLast() }
        return frame(
            8, Data([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]) + Data(text.utf8))
    }

    /// The header fields of a 101 response to a key (RFC 6455 §4.2.2).
    static func accept(
        _ key: String, _ script: WebSocketScript
    ) -> [(name: String, value: String)] {
        var digest = SHA1()
        digest.update(Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        var fields: [(name: String, value: String)] = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", Data(digest.finalize()).base64EncodedString()),
        ]
        if let subprotocol = script.subprotocol {
            fields.append(("Sec-WebSocket-Protocol", subprotocol))
        }
        for (name, value) in script.headers.sorted(by: { $0.key < $1.key }) {
            fields.removeAll { $0.name.lowercasedASCII() == name.lowercasedASCII() }
            if !value.isEmpty { fields.append((name, value)) }
        }
        return fields
    }
}
