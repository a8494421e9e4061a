// Performance annotations: decision 17.

/// Finds the end of strings and validates their UTF-8 and escapes.
enum StringScan {
    /// Continues a scan at `at`, a byte inside a string that is not plain ASCII.
    ///
    /// Returns nil if the string is invalid.
    @inline(never)
    static func finish(_ at: Scan.Bytes) -> (end: Scan.Bytes, isEscaped: Bool)? {
        var next = at
        var isEscaped = false
        while true {
            let byte = next.pointee
            if byte >= 0x80 {
                let past = pastMultibyte(next)
                if past == next { return nil }
                next = past
            } else if byte == UInt8(ascii: "\"") {
                return (next, isEscaped)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                let length = escapeLength(next)
                if length == 0 { return nil }
                next += length
            } else if byte < 0x20 {
                return nil
            }
            next = pastPlainText(next)
        }
    }

    private static func pastPlainText(_ at: Scan.Bytes) -> Scan.Bytes {
        var next = at
        while true {
            let count = Scan.plainText(next)
            next += count
            if count < 8 { return next }
        }
    }

    /// Skips valid multi-byte sequences (RFC 3629) and returns the next byte.
    @inline(__always)
    static func pastMultibyte(_ at: Scan.Bytes) -> Scan.Bytes {
        var next = at
        while true {
            let length = sequenceLength(next)
            if length == 0 { return next }
            next += length
        }
    }

    /// The length of the valid multi-byte sequence at `at`; 0 if it is invalid.
    private static func sequenceLength(_ at: Scan.Bytes) -> Int {
        let word = UInt32(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt32.self))
        if word & 0x00C0_C0F0 == 0x0080_80E0 {
            // Neither overlong nor a surrogate.
            let middle = word & 0x0000_200F
            return middle != 0 && middle != 0x0000_200D ? 3 : 0
        }
        if word & 0x0000_C0E0 == 0x0000_80C0 {
            return word & 0x0000_001E != 0 ? 2 : 0
        }
        if word & 0xC0C0_C0F8 == 0x8080_80F0 {
            // Neither overlong nor above U+10FFFF.
            let isLongEnough = word & 0x0000_3007 != 0
            let isInRange = word & 0x0000_0004 == 0 || word & 0x0000_3003 == 0
            return isLongEnough && isInRange ? 4 : 0
        }
        return 0
    }

    /// The length of the valid escape, or of the surrogate pair, at `at`; 0 if it is invalid.
    private static func escapeLength(_ at: Scan.Bytes) -> Int {
        switch at[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"):
            guard let unit = Scan.hex4(at + 2) else { return 0 }
            guard unit & 0xF800 == 0xD800 else { return 6 }
            guard unit < 0xDC00, at[6] == UInt8(ascii: "\\"), at[7] == UInt8(ascii: "u"),
                let low = Scan.hex4(at + 8), low & 0xFC00 == 0xDC00
            else { return 0 }
            return 12
        default:
            return 0
        }
    }

    /// The position and kind of the error in the invalid string that starts at `start`.
    @inline(never)
    static func fault(
        from start: Scan.Bytes, end: Scan.Bytes
    ) -> (at: Scan.Bytes, kind: JSONError.Kind) {
        var next = start
        while next < end {
            switch next.pointee {
            case 0x80...0xFF:
                let past = pastMultibyte(next)
                if past == next { return (next, .invalidUTF8) }
                next = past
            case UInt8(ascii: "\\"):
                let length = escapeLength(next)
                if length == 0 { return (next, escapeFault(next, end: end)) }
                next += length
            case 0..<0x20:
                return (next, .controlCharacter)
            default:
                next += 1
            }
        }
        return (end, .unexpectedEnd)
    }

    private static func escapeFault(_ at: Scan.Bytes, end: Scan.Bytes) -> JSONError.Kind {
        if end - at < 2 { return .unexpectedEnd }
        guard at[1] == UInt8(ascii: "u") else { return .invalidEscape }
        if Scan.hex4(at + 2) != nil { return .loneSurrogate }
        return end - at < 6 ? .unexpectedEnd : .invalidEscape
    }
}
