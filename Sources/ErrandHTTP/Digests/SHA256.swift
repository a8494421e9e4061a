package import ErrandSystem

/// An incremental SHA-256 (FIPS 180-4), for cache keys and for digests of downloads.
///
/// It is not constant-time. Do not use it where another party can ask for the digest of a secret and measure the time.
/// That does not matter for digests that only this process asks for: those of cache keys, which ``hmacHex(_:key:)``
/// keys before they are stored, and those that Digest authentication prescribes. Decision 4
/// (`docs/decisions/0004-own-sha256.md`) explains why the project has its own implementation.
package struct SHA256: Sendable {
    // A wrapper instead of an alias: callers in other modules would use unspecialized generic code.
    private var hash = BlockHash<State>()

    package init() {}

    /// The digest of data as lower-case hexadecimal text.
    package static func hex(_ data: Data) -> String {
        var hash = SHA256()
        hash.update(data)
        return hash.finalizeHex()
    }

    package mutating func update(_ data: Data) { hash.update(data) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    /// The digest of all bytes so far, as 32 bytes.
    ///
    /// The state is unchanged, so that more bytes can follow.
    package func finalize() -> [UInt8] { hash.finalize() }

    /// The digest of all bytes so far, as lower-case hexadecimal text.
    package func finalizeHex() -> String { finalize().lowercaseHex }
}

/// The eight words of the hash state, and the compression function.
private struct State: BlockCompression {
    static let blockSize = 64
    static let isLittleEndian = false

    private var words: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
        0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    var digest: [UInt8] {
        words.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    /// Compresses any number of complete blocks into the state.
    mutating func compress(_ blocks: UnsafeRawBufferPointer) {
        guard blocks.count >= 64 else { return }
        roundConstants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                var offset = 0
                while offset + 64 <= blocks.count {
                    fill(schedule, from: blocks, at: offset)
                    mix(schedule, constants)
                    offset += 64
                }
            }
        }
    }

    private func fill(
        _ schedule: UnsafeMutableBufferPointer<UInt32>, from blocks: UnsafeRawBufferPointer,
        at offset: Int
    ) {
        for index in 0..<16 {
            let word = blocks.loadUnaligned(fromByteOffset: offset + index * 4, as: UInt32.self)
            schedule[index] = UInt32(bigEndian: word)
        }
        for index in 16..<64 {
            let early = schedule[index - 15]
            let late = schedule[index - 2]
            let first = rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3)
            let second = rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10)
            schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
        }
    }

    private mutating func mix(
        _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ constants: UnsafeBufferPointer<UInt32>
    ) {
        // The names a to h are those of FIPS 180-4 §6.2.2.
        var (a, b, c, d) = (words[0], words[1], words[2], words[3])
        var (e, f, g, h) = (words[4], words[5], words[6], words[7])
        for index in 0..<64 {
            let big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let choice = (e & f) ^ (~e & g)
            let first = h &+ big1 &+ choice &+ constants[index] &+ schedule[index]
            let big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ big0 &+ majority)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { words[index] &+= value }
    }

    private func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
        (value >> count) | (value << (32 - count))
    }
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4
/// §4.2.2).
private let roundConstants: [UInt32] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]
