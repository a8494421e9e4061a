#if Redis
    /// A 64-bit checksum that detects accidental damage; not cryptographic.
    struct RecordChecksum {
        private var lanes: SIMD4<UInt64>

        /// - Parameter seed: Sums with different seeds are independent.
        init(seed: UInt64 = 0) {
            lanes = SIMD4(1, 2, 3, 4) &* SIMD4(repeating: 0x9e37_79b9_7f4a_7c15 &+ seed)
        }

        /// Adds bytes with their count.
        mutating func combine(_ bytes: UnsafeRawBufferPointer) {
            combine(UInt64(bytes.count))
            var offset = 0
            while offset + 32 <= bytes.count {
                // Four independent lanes, which the processor computes in parallel.
                let words = SIMD4(
                    bytes.word(offset), bytes.word(offset + 8), bytes.word(offset + 16),
                    bytes.word(offset + 24))
                lanes = (lanes ^ words) &* SIMD4(repeating: 0xd6e8_feb8_6659_fd93)
                lanes ^= lanes &>> 32
                offset += 32
            }
            while offset + 8 <= bytes.count {
                combine(bytes.word(offset))
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = rest << 8 | UInt64(bytes[offset])
                offset += 1
            }
            combine(rest)
        }

        mutating func combine(_ word: UInt64) {
            lanes[0] = (lanes[0] ^ word) &* 0xd6e8_feb8_6659_fd93
            lanes[0] ^= lanes[0] >> 32
        }

        var value: UInt64 {
            var sum = RecordChecksum.mixed(lanes[0])
            for lane in 1..<4 { sum = RecordChecksum.mixed(sum ^ lanes[lane]) }
            return sum
        }

        private static func mixed(_ word: UInt64) -> UInt64 {
            let product = word &* 0xd6e8_feb8_6659_fd93
            return product ^ (product >> 32)
        }
    }

    extension UnsafeRawBufferPointer {
        fileprivate func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }
#endif
