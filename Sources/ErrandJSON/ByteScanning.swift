// Performance annotations: decision 17.

/// Scanners over zero-padded bytes.
///
/// Each function reads up to 17 bytes ahead, which the tape's padding allows, and stops at the zero
/// byte after the document at the latest.
package enum Scan {
    typealias Bytes = UnsafePointer<UInt8>

    static func word(_ at: Bytes) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
    }

    /// The number of leading bytes, 0 to 8, that are plain string text.
    ///
    /// Plain text is ASCII without quotes, backslashes and control characters.
    static func plainText(_ at: Bytes) -> Int {
        let block = word(at)
        // Compares a word of eight bytes: with Swift 6.3 on Linux, comparisons of SIMD vectors
        // compile to loops over the lanes and are several times slower.
        //
        // The high bit of a lane is set if the subtraction underflowed or if the bit was set
        // before. A borrow reaches only higher lanes, so the lowest mark is always correct.
        let quotes = (block ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
        let slashes = (block ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
        let controls = block &- 0x2020_2020_2020_2020
        let special = (quotes | slashes | controls | block) & 0x8080_8080_8080_8080
        return special.trailingZeroBitCount &>> 3
    }

    /// The number of leading bytes, 0 to 8, that are ASCII digits.
    static func digits(_ at: Bytes) -> Int {
        let block = word(at)
        let others =
            ((block &+ 0x4646_4646_4646_4646) | (block &- 0x3030_3030_3030_3030))
            & 0x8080_8080_8080_8080
        return others.trailingZeroBitCount &>> 3
    }

    /// Skips digits and returns the first other byte.
    static func pastDigits(_ at: Bytes) -> Bytes {
        var next = at
        while true {
            let count = digits(next)
            next += count
            if count < 8 { return next }
        }
    }

    /// Skips white space and returns the first other byte.
    static func pastSpace(_ at: Bytes) -> Bytes {
        if at.pointee > 0x20 { return at }
        // The common case: one space after a colon or a comma.
        if at[1] > 0x20, at.pointee == 0x20 { return at + 1 }
        return pastLongSpace(at)
    }

    @inline(never)
    private static func pastLongSpace(_ at: Bytes) -> Bytes {
        // Pretty-printed JSON has a line break and an indentation; 16 bytes are compared at once.
        var next = at.pointee == 0x0A ? at + 1 : at
        let first = word(next) ^ 0x2020_2020_2020_2020
        let second = word(next + 8) ^ 0x2020_2020_2020_2020
        next +=
            first != 0
            ? first.trailingZeroBitCount &>> 3
            : 8 &+ (second == 0 ? 8 : second.trailingZeroBitCount &>> 3)
        return next.pointee > 0x20 ? next : pastAnySpace(next)
    }

    @inline(never)
    private static func pastAnySpace(_ at: Bytes) -> Bytes {
        var next = at
        while true {
            let others = word(next) ^ 0x2020_2020_2020_2020
            if others == 0 {
                next += 8
                continue
            }
            next += others.trailingZeroBitCount &>> 3
            switch next.pointee {
            case 0x0A, 0x0D, 0x09: next += 1
            default: return next
            }
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// The value of a hexadecimal digit, nil for any other byte.
    package static func hex(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte &- 0x30)
        case 0x41...0x46: UInt32(byte &- 0x37)
        case 0x61...0x66: UInt32(byte &- 0x57)
        default: nil
        }
    }

    /// The value of four hexadecimal digits; nil if one of them is not a digit.
    static func hex4(_ at: Bytes) -> UInt32? {
        guard let a = hex(at[0]), let b = hex(at[1]), let c = hex(at[2]), let d = hex(at[3])
        else { return nil }
        return a << 12 | b << 8 | c << 4 | d
    }
}
