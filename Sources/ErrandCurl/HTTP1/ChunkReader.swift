/// Reads the chunks of a body up to the last one, whose lines end with CRLF (RFC 9112 §7.1).
struct ChunkReader {
    enum Event {
        case needsInput
        /// A part of the data of a chunk.
        case bytes(UnsafeRawBufferPointer)
        /// The line of the last chunk is complete; the trailers follow.
        case lastChunk
        case malformed
    }

    private enum Phase {
        case size
        /// White space after the size.
        case space
        case `extension`
        case sizeEnd
        case data
        case dataEnd
        case lineFeed
        case last
    }

    /// The maximum number of digits of a size.
    private static let maximumDigits = 16

    private var phase = Phase.size
    private var remaining: Int64 = 0
    private var digits = 0
    /// The maximum number of bytes of all extensions together, which have no use.
    private var extensionLimit: Int

    init(extensionLimit: Int) { self.extensionLimit = extensionLimit }

    /// Returns the next event and removes its bytes from the input.
    mutating func next(_ input: inout UnsafeRawBufferPointer) -> Event {
        while let byte = input.first {
            if phase == .data {
                let count = Int(clamping: min(remaining, Int64(input.count)))
                remaining -= Int64(count)
                if remaining == 0 { phase = .dataEnd }
                return .bytes(input.take(count))
            }
            guard let next = phase(after: byte) else { return .malformed }
            _ = input.take(1)
            phase = next
            if next == .last { return .lastChunk }
        }
        return .needsInput
    }

    /// The phase after a byte outside the data; `nil` if the byte is not allowed there.
    private mutating func phase(after byte: UInt8) -> Phase? {
        switch phase {
        case .size:
            guard let digit = Self.hexDigit(byte) else {
                return digits > 0 ? phaseAfterSize(byte) : nil
            }
            digits += 1
            guard digits <= Self.maximumDigits, remaining >> 59 == 0 else { return nil }
            remaining = remaining << 4 | digit
            return .size
        case .space: return phaseAfterSize(byte)
        case .extension:
            if byte == 0x0D { return .sizeEnd }
            let isText = byte >= 0x20 && byte != 0x7F || byte == 0x09
            return isText && countExtension() ? .extension : nil
        case .sizeEnd:
            guard byte == 0x0A else { return nil }
            digits = 0
            return remaining > 0 ? .data : .last
        case .dataEnd: return byte == 0x0D ? .lineFeed : nil
        case .lineFeed: return byte == 0x0A ? .size : nil
        case .data, .last: return nil
        }
    }

    private mutating func phaseAfterSize(_ byte: UInt8) -> Phase? {
        switch byte {
        case 0x0D: .sizeEnd
        case UInt8(ascii: ";"): .extension
        case 0x20, 0x09: countExtension() ? .space : nil
        default: nil
        }
    }

    private mutating func countExtension() -> Bool {
        extensionLimit -= 1
        return extensionLimit >= 0
    }

    private static func hexDigit(_ byte: UInt8) -> Int64? {
        switch byte {
        case 0x30...0x39: Int64(byte - 0x30)
        case 0x41...0x46: Int64(byte - 0x41 + 10)
        case 0x61...0x66: Int64(byte - 0x61 + 10)
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Removes this number of bytes from the start and returns them.
    mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
        let taken = UnsafeRawBufferPointer(rebasing: self[..<count])
        self = UnsafeRawBufferPointer(rebasing: self[count...])
        return taken
    }
}
