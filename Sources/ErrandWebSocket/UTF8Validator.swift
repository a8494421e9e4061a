/// Checks text that arrives in parts, and fails at the first byte that no valid text can have (RFC 3629 §4).
package struct UTF8Validator: Sendable {
    /// The number of bytes that complete the character.
    private var missing = 0
    /// The range of the next one of them.
    private var range: ClosedRange<UInt8> = 0x80...0xBF

    package init() {}

    /// Whether the text so far ends with a complete character.
    package var isComplete: Bool { missing == 0 }

    /// Adds a part of the text; returns whether it is valid so far.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                index = Self.firstBeyondASCII(bytes, from: index)
                guard index < bytes.count else { return true }
                guard begin(bytes[index]) else { return false }
            } else {
                guard range.contains(bytes[index]) else { return false }
                missing -= 1
                range = 0x80...0xBF
            }
            index += 1
        }
        return true
    }

    /// RFC 3629 §4: neither overlong forms nor surrogates, and nothing above U+10FFFF.
    private mutating func begin(_ lead: UInt8) -> Bool {
        switch lead {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, range) = (2, 0xA0...0xBF)
        case 0xED: (missing, range) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, range) = (3, 0x90...0xBF)
        case 0xF4: (missing, range) = (3, 0x80...0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }

    private static func firstBeyondASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while bytes.count - index >= 8 {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard word & 0x8080_8080_8080_8080 == 0 else { break }
            index += 8
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }
}
