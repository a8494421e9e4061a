/// SHA-1 (FIPS 180-4 §6.1), only for digests of files that servers publish, because SHA-1 is broken.
package typealias SHA1 = BlockHash<SHA1Compression>

/// The compression of SHA-1 (FIPS 180-4 §6.1.2).
package struct SHA1Compression: BlockCompression {
    package static var blockSize: Int { 64 }
    package static var isLittleEndian: Bool { false }

    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
        0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0
    )

    package init() {}

    package var digest: [UInt8] {
        [state.0, state.1, state.2, state.3, state.4].flatMap { word in
            stride(from: UInt32(24), through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: word >> $0)
            }
        }
    }

    package mutating func compress(_ blocks: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { schedule in
            for start in stride(from: 0, to: blocks.count, by: 64) {
                for index in 0..<16 {
                    let word = blocks.loadUnaligned(
                        fromByteOffset: start + 4 * index, as: UInt32.self)
                    schedule[index] = UInt32(bigEndian: word)
                }
                for index in 16..<80 {
                    let word =
                        schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14]
                        ^ schedule[index - 16]
                    schedule[index] = rotate(word, 1)
                }
                mix(schedule)
            }
        }
    }

    private mutating func mix(_ schedule: UnsafeMutableBufferPointer<UInt32>) {
        var (a, b, c, d, e) = state
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32)
            switch index / 20 {
            case 0: (mixed, constant) = ((b & c) ^ (~b & d), 0x5a82_7999)
            case 1: (mixed, constant) = (b ^ c ^ d, 0x6ed9_eba1)
            case 2: (mixed, constant) = ((b & c) ^ (b & d) ^ (c & d), 0x8f1b_bcdc)
            default: (mixed, constant) = (b ^ c ^ d, 0xca62_c1d6)
            }
            let sum = rotate(a, 5) &+ mixed &+ e &+ constant &+ schedule[index]
            (e, d, c, b, a) = (d, c, rotate(b, 30), a, sum)
        }
        state = (
            state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e
        )
    }

    private func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value << count | value >> (32 - count)
    }
}
