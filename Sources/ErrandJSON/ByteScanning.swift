/// Scanners over padded bytes: each reads up to 16 bytes ahead, which a tape's padding allows,
/// and stops at the zero byte behind the document at the latest.
enum Scan {
    typealias Bytes = UnsafePointer<UInt8>

    @inline(__always)
    static func word(_ at: Bytes) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
    }

    /// How many bytes from `at` on are plain text of a string: ASCII, no quote, no backslash,
    /// no control character; 16 if there are at least so many.
    @inline(__always)
    static func plainText(_ at: Bytes) -> Int {
        let block = UnsafeRawPointer(at).loadUnaligned(as: SIMD16<Int8>.self)
        // As signed numbers, control characters and bytes above 0x7F are both below a space.
        let special =
            (block .< SIMD16(repeating: 0x20))
            .| (block .== SIMD16(repeating: 0x22))
            .| (block .== SIMD16(repeating: 0x5C))
        return firstSet(special)
    }

    /// The position of the mask's first set lane, 16 without one.
    @inline(__always)
    static func firstSet(_ mask: SIMDMask<SIMD16<Int8>>) -> Int {
        let halves = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        let low = UInt64(littleEndian: halves[0])
        if low != 0 { return low.trailingZeroBitCount &>> 3 }
        let high = UInt64(littleEndian: halves[1])
        return 8 &+ high.trailingZeroBitCount &>> 3
    }

    /// How many of the eight bytes from `at` on are digits before the first other byte.
    @inline(__always)
    static func digits(_ at: Bytes) -> Int {
        let block = word(at)
        let others =
            ((block &+ 0x4646_4646_4646_4646) | (block &- 0x3030_3030_3030_3030))
            & 0x8080_8080_8080_8080
        return others.trailingZeroBitCount &>> 3
    }

    /// The first byte from `at` on that is no digit.
    @inline(__always)
    static func pastDigits(_ at: Bytes) -> Bytes {
        var next = at
        while true {
            let count = digits(next)
            next += count
            if count < 8 { return next }
        }
    }

    /// The first byte from `at` on that is no white space.
    @inline(__always)
    static func pastSpace(_ at: Bytes) -> Bytes {
        at.pointee > 0x20 ? at : pastLongSpace(at)
    }

    private static func pastLongSpace(_ at: Bytes) -> Bytes {
        var next = at
        while true {
            switch next.pointee {
            case 0x20:
                let others = word(next) ^ 0x2020_2020_2020_2020
                next += others.trailingZeroBitCount &>> 3
            case 0x0A, 0x0D, 0x09: next += 1
            default: return next
            }
        }
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// The value of a hexadecimal digit, nil for any other byte.
    @inline(__always)
    static func hex(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte &- 0x30)
        case 0x41...0x46: UInt32(byte &- 0x37)
        case 0x61...0x66: UInt32(byte &- 0x57)
        default: nil
        }
    }

    /// The value of four hexadecimal digits, nil if one of them is none.
    static func hex4(_ at: Bytes) -> UInt32? {
        guard let a = hex(at[0]), let b = hex(at[1]), let c = hex(at[2]), let d = hex(at[3])
        else { return nil }
        return a << 12 | b << 8 | c << 4 | d
    }
}
