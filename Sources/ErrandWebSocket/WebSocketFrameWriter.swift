/// Writes the frames of a client (RFC 6455 §5.2).
package enum WebSocketFrameWriter {
    /// The bits of the first byte besides the opcode.
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// FIN: the last frame of its message.
        package static let final = Flags(rawValue: 0x80)
        /// RSV1: the message is compressed (RFC 7692 §6).
        package static let compressed = Flags(rawValue: 0x40)
    }

    /// Writes one frame; its payload is masked while it is copied.
    ///
    /// - Parameter mask: The masking key, new for each frame and unpredictable (RFC 6455 §5.3).
    package static func write(
        _ opcode: WebSocketOpcode, _ flags: Flags, _ payload: UnsafeRawBufferPointer,
        mask: UInt32, into output: inout WebSocketBuffer
    ) {
        let count = payload.count
        // §5.2: the shortest of the three forms.
        let extended = count <= 125 ? 0 : count <= 0xFFFF ? 2 : 8
        output.append(6 + extended + count) { room in
            room[0] = flags.rawValue | opcode.rawValue
            // §5.1, §5.3: a client masks every frame.
            room[1] = 0x80 | UInt8(extended == 0 ? count : extended == 2 ? 126 : 127)
            for index in 0..<extended {
                let shift = UInt64(8 * (extended - 1 - index))
                room[2 + index] = UInt8(truncatingIfNeeded: UInt64(count) >> shift)
            }
            room.storeBytes(of: mask, toByteOffset: 2 + extended, as: UInt32.self)
            let target = UnsafeMutableRawBufferPointer(rebasing: room[(6 + extended)...])
            copy(payload, mask: mask, into: target)
        }
    }

    /// Copies bytes and masks them (RFC 6455 §5.3): byte i is combined with byte i modulo 4 of the key, which has the
    /// order of memory, so that its words can be combined.
    private static func copy(
        _ source: UnsafeRawBufferPointer, mask: UInt32, into target: UnsafeMutableRawBufferPointer
    ) {
        guard let from = source.baseAddress, let to = target.baseAddress else { return }
        let key = UInt64(mask) << 32 | UInt64(mask)
        let whole = source.count & ~7
        var offset = 0
        while offset < whole {
            let word = from.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            to.storeBytes(of: word ^ key, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        withUnsafeBytes(of: mask) { bytes in
            while offset < source.count {
                target[offset] = source[offset] ^ bytes[offset & 3]
                offset += 1
            }
        }
    }
}

/// The masking keys of a connection, from the system's generator (RFC 6455 §5.3, §10.3).
struct MaskingKeys: Sendable {
    private var random = SystemRandomNumberGenerator()
    /// The second half of the last number, because each number is a system call.
    private var spare: UInt32?

    mutating func next() -> UInt32 {
        if let spare {
            self.spare = nil
            return spare
        }
        let number = random.next()
        spare = UInt32(truncatingIfNeeded: number >> 32)
        return UInt32(truncatingIfNeeded: number)
    }
}
