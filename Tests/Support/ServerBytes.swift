/// The bytes of a server.
package enum ServerBytes {
    /// The form of a frame's length.
    package enum Length { case shortest, two, eight }

    /// A frame with any bits, valid or not.
    package static func frame(
        _ opcode: Int, _ payload: [UInt8] = [], final: Bool = true, reserved: UInt8 = 0,
        mask: [UInt8]? = nil, length form: Length = .shortest, announced: UInt64? = nil
    ) -> [UInt8] {
        var bytes = [(final ? 0x80 : 0) | reserved << 4 | UInt8(opcode)]
        let length = announced ?? UInt64(payload.count)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        if form == .eight || length > 0xFFFF {
            bytes.append(maskBit | 127)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(56 - 8 * $0)) }
        } else if form == .two || length > 125 {
            bytes.append(maskBit | 126)
            bytes += [UInt8(length >> 8), UInt8(length & 0xFF)]
        } else {
            bytes.append(maskBit | UInt8(length))
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    package static func text(_ text: String, final: Bool = true) -> [UInt8] {
        frame(1, Array(text.utf8), final: final)
    }

    package static func more(_ text: String, final: Bool = true) -> [UInt8] {
        frame(0, Array(text.utf8), final: final)
    }

    package static func ping(_ text: String = "") -> [UInt8] { frame(9, Array(text.utf8)) }

    package static func close(_ code: Int? = nil, _ reason: [UInt8] = []) -> [UInt8] {
        frame(8, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + reason } ?? [])
    }
}
