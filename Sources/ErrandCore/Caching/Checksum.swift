/// A 64-bit checksum with which stores detect accidental damage.
///
/// It is fast and not cryptographic. Stored entries contain it: it must not change.
package struct Checksum {
    private var hash: UInt64 = 0x9e37_79b9_7f4a_7c15

    package init() {}

    /// Adds bytes with their count, so that "ab", "c" and "a", "bc" give different sums.
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var offset = 0
        if bytes.count >= 64 { offset = combineLanes(bytes) }
        while offset + 8 <= bytes.count {
            combine(word(bytes, offset))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        combine(rest)
    }

    /// Adds 32 bytes at a time in four independent lanes, which the processor computes in parallel.
    ///
    /// - Returns: The number of bytes that were added.
    private mutating func combineLanes(_ bytes: UnsafeRawBufferPointer) -> Int {
        var (one, two, three, four) = (Checksum(), Checksum(), Checksum(), Checksum())
        var offset = 0
        while offset + 32 <= bytes.count {
            one.combine(word(bytes, offset))
            two.combine(word(bytes, offset + 8))
            three.combine(word(bytes, offset + 16))
            four.combine(word(bytes, offset + 24))
            offset += 32
        }
        combine(one.hash)
        combine(two.hash)
        combine(three.hash)
        combine(four.hash)
        return offset
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    package mutating func combine(_ text: String?) {
        guard var text else { return combine(UInt64.max) }
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }

    package mutating func combine(_ value: Int) { combine(UInt64(bitPattern: Int64(value))) }

    package mutating func combine(_ word: UInt64) {
        // The multiplication spreads a changed bit to higher bits, the shift back to lower ones.
        hash = (hash ^ word) &* 0xd6e8_feb8_6659_fd93
        hash ^= hash >> 32
    }

    package var value: Int64 { Int64(bitPattern: hash) }
}
