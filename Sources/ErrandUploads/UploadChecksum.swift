import ErrandHTTP

/// A digest for `Upload-Checksum`, computed while a piece is read.
enum UploadChecksum: Sendable {
    case sha256(SHA256)
    case sha1(SHA1)

    /// The names of tus 1.0, in the order of preference.
    static let supported = ["sha256", "sha1"]

    /// The first supported algorithm that a server lists; `nil` if there is none.
    static func choose(from names: [String]) -> String? {
        supported.first { names.contains($0) }
    }

    init?(_ name: String) {
        switch name {
        case "sha256": self = .sha256(SHA256())
        case "sha1": self = .sha1(SHA1())
        default: return nil
        }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .sha256(var hash):
            hash.update(bytes)
            self = .sha256(hash)
        case .sha1(var hash):
            hash.update(bytes)
            self = .sha1(hash)
        }
    }

    func finalize() -> [UInt8] {
        switch self {
        case .sha256(let hash): hash.finalize()
        case .sha1(let hash): hash.finalize()
        }
    }

    /// SHA-1 (RFC 3174), which servers with checksums must support; it detects transfer errors and is
    /// not used for security.
    struct SHA1: Sendable {
        private var words: [UInt32] = [
            0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0,
        ]
        private var rest: [UInt8] = []
        private var count: UInt64 = 0

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            count &+= UInt64(bytes.count)
            var bytes = bytes[...]
            if !rest.isEmpty {
                let missing = bytes.prefix(64 - rest.count)
                rest.append(contentsOf: missing)
                bytes = bytes.dropFirst(missing.count)
                guard rest.count == 64 else { return }
                rest.withUnsafeBytes { Self.compress($0, into: &words) }
                rest.removeAll(keepingCapacity: true)
            }
            while bytes.count >= 64 {
                Self.compress(UnsafeRawBufferPointer(rebasing: bytes.prefix(64)), into: &words)
                bytes = bytes.dropFirst(64)
            }
            rest.append(contentsOf: bytes)
        }

        func finalize() -> [UInt8] {
            var copy = self
            let bits = count &* 8
            let zeros = (119 - rest.count) % 64
            var tail = [0x80] + [UInt8](repeating: 0, count: zeros)
            for shift in stride(from: 56, through: 0, by: -8) {
                tail.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
            }
            tail.withUnsafeBytes { copy.update($0) }
            return copy.words.flatMap { word in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
            }
        }

        private static func compress(
            _ block: UnsafeRawBufferPointer, into words: inout [UInt32]
        ) {
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { schedule in
                for index in 0..<16 {
                    schedule[index] = UInt32(
                        bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
                }
                for index in 16..<80 {
                    let word =
                        schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14]
                        ^ schedule[index - 16]
                    schedule[index] = rotate(word, 1)
                }
                var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
                for index in 0..<80 {
                    let (function, constant): (UInt32, UInt32) =
                        switch index {
                        case ..<20: ((b & c) | (~b & d), 0x5A82_7999)
                        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                        case ..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                        default: (b ^ c ^ d, 0xCA62_C1D6)
                        }
                    let next = rotate(a, 5) &+ function &+ e &+ constant &+ schedule[index]
                    (e, d, c, b, a) = (d, c, rotate(b, 30), a, next)
                }
                words[0] &+= a
                words[1] &+= b
                words[2] &+= c
                words[3] &+= d
                words[4] &+= e
            }
        }

        private static func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
            (value << count) | (value >> (32 - count))
        }
    }
}
