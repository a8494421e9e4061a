import Foundation

/// A minimal encoder for zlib and gzip (RFC 1950 to 1952) that needs no library.
enum Deflate {
    /// A gzip file with stored (uncompressed) blocks.
    static func gzip(_ data: Data) -> Data {
        header + stored(data) + littleEndian(crc(data)) + littleEndian(UInt32(data.count))
    }

    /// A gzip file in parts: one for each text, in a block of its own, and one that ends the file.
    static func flushedGzip(_ texts: [Data]) -> [Data] {
        let whole = texts.reduce(Data(), +)
        let blocks = texts.enumerated().map { index, text in
            // A stored block that is not the last one.
            (index == 0 ? header : Data()) + Data([0]) + stored(text).dropFirst()
        }
        let end = stored(Data()) + littleEndian(crc(whole)) + littleEndian(UInt32(whole.count))
        return blocks + [end]
    }

    /// A zlib stream: the `deflate` content coding of HTTP (RFC 9110 §8.4.1.2).
    static func zlib(_ data: Data) -> Data {
        Data([0x78, 0x01]) + stored(data) + Data(littleEndian(adler(data)).reversed())
    }

    /// A gzip file that decodes to at most `count` zero bytes and has about 1/158 of their size.
    static func gzipOfZeros(_ count: Int) -> Data {
        var bits = BitWriter()
        bits.write(1, count: 1)  // the last block
        bits.write(1, count: 2)  // fixed codes
        bits.writeCode(0x30, count: 8)  // one literal zero
        let repeats = (count - 1) / 258
        for _ in 0..<repeats {
            bits.writeCode(0b1100_0101, count: 8)  // length 258
            bits.writeCode(0, count: 5)  // distance 1
        }
        bits.writeCode(0, count: 7)  // the end
        let size = 1 + repeats * 258
        return header + bits.bytes + littleEndian(crc(Data(count: size)))
            + littleEndian(UInt32(size))
    }

    private static let header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

    private static func stored(_ data: Data) -> Data {
        var result = Data()
        var start = data.startIndex
        repeat {
            let end = min(start + 65_535, data.endIndex)
            let size = UInt16(end - start)
            result.append(end == data.endIndex ? 1 : 0)
            for value in [size, ~size] {
                result.append(UInt8(truncatingIfNeeded: value))
                result.append(UInt8(truncatingIfNeeded: value >> 8))
            }
            result.append(data[start..<end])
            start = end
        } while start < data.endIndex
        return result
    }

    private static func littleEndian(_ value: UInt32) -> Data {
        withUnsafeBytes(of: value.littleEndian) { Data($0) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
        }
    }

    private static func crc(_ data: Data) -> UInt32 {
        let table = table
        return ~data.withUnsafeBytes { bytes in
            bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
        }
    }

    private static func adler(_ data: Data) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in data {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private struct BitWriter {
        var bytes = Data()
        private var used = 8

        mutating func write(_ value: Int, count: Int) {
            for index in 0..<count {
                if used == 8 {
                    bytes.append(0)
                    used = 0
                }
                bytes[bytes.count - 1] |= UInt8(value >> index & 1) << used
                used += 1
            }
        }

        /// Writes a Huffman code, most significant bit first.
        mutating func writeCode(_ code: Int, count: Int) {
            for index in (0..<count).reversed() { write(code >> index & 1, count: 1) }
        }
    }
}
