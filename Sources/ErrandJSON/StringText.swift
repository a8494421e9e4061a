// Performance annotations: decision 17.

/// Conversion from the bytes of a validated string to its text.
extension Tape {
    /// The text of the string at `index`.
    @_effects(releasenone) @usableFromInline
    func string(at index: Int) -> String {
        let text = text(at: index)
        if words[index] >> 60 == Word.Kind.string.rawValue { return StringText.string(text) }
        return StringText.unescaped(text)
    }

    /// The UTF-8 of the string at `index`, with escapes resolved.
    func unescapedBytes(at index: Int) -> [UInt8] {
        let text = text(at: index)
        guard kind(at: index) == .escaped else { return Array(text) }
        return [UInt8](unsafeUninitializedCapacity: text.count + StringText.slack) {
            buffer, count in
            count = StringText.unescape(text, into: buffer)
        }
    }

    /// Whether the string at `index`, with escapes resolved, equals the UTF-8 in `other`.
    func isString(at index: Int, equalTo other: UnsafeBufferPointer<UInt8>) -> Bool {
        let word = words[index]
        guard let base = other.baseAddress else { return Word.length(word) == 0 }
        if word >> 60 == Word.Kind.string.rawValue {
            return Word.length(word) == other.count
                && Bytes.areEqual(bytes + Word.offset(word), base, count: other.count)
        }
        return isEscapedString(at: index, equalTo: other)
    }

    private func isEscapedString(
        at index: Int, equalTo other: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        // An escape is never shorter than its character, and at most six times as long. The second
        // bound keeps comparisons of short keys with a long one cheap.
        let length = Word.length(words[index])
        return length >= other.count && length <= 6 * other.count
            && unescapedBytes(at: index).elementsEqual(other)
    }
}

/// Comparison of short texts without a function call.
enum Bytes {
    /// Compares `count` bytes in overlapping words, without reading beyond them.
    @inline(__always)
    static func areEqual(
        _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, count: Int
    ) -> Bool {
        if count >= 8 {
            var offset = 0
            while offset &+ 8 <= count {
                if !isSame(UInt64.self, a, b, offset) { return false }
                offset &+= 8
            }
            return isSame(UInt64.self, a, b, count &- 8)
        }
        if count >= 4 {
            return isSame(UInt32.self, a, b, 0) && isSame(UInt32.self, a, b, count &- 4)
        }
        if count >= 2 {
            return isSame(UInt16.self, a, b, 0) && isSame(UInt16.self, a, b, count &- 2)
        }
        return count == 0 || a.pointee == b.pointee
    }

    private static func isSame<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type, _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ offset: Int
    ) -> Bool {
        UnsafeRawPointer(a + offset).loadUnaligned(as: T.self)
            == UnsafeRawPointer(b + offset).loadUnaligned(as: T.self)
    }
}

/// Strings and escapes that the parser has validated.
enum StringText {
    /// Creates a string from validated UTF-8 without validating it again.
    ///
    /// `slack` more bytes must be readable.
    @inline(__always)
    static func string(_ text: UnsafeBufferPointer<UInt8>) -> String {
        if ShortString.isKnown, text.count <= ShortString.capacity, let base = text.baseAddress {
            return ShortString.string(base, count: text.count)
        }
        return longString(text)
    }

    private static func longString(_ text: UnsafeBufferPointer<UInt8>) -> String {
        #if canImport(Darwin)
            String(decoding: text, as: UTF8.self)
        #else
            String(
                copying: UTF8Span(
                    unchecked: Span(_unsafeElements: text), isKnownASCII: isASCII(text)))
        #endif
    }

    @inline(__always)
    private static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = text.baseAddress else { return true }
        let count = text.count
        var marks: UInt64 = 0
        var offset = 0
        while offset &+ 8 <= count {
            marks |= UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self)
            offset &+= 8
        }
        if offset < count {
            let bits = UInt64(truncatingIfNeeded: (count &- offset) &* 8)
            marks |= Scan.word(base + offset) & ((1 &<< bits) &- 1)
        }
        return marks & 0x8080_8080_8080_8080 == 0
    }

    static func unescaped(_ text: UnsafeBufferPointer<UInt8>) -> String {
        let capacity = text.count + slack
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            let count = unescape(text, into: buffer)
            return string(UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The number of extra bytes that an output buffer needs.
    static let slack = 16

    /// Resolves the escapes of `text` and returns the number of bytes written.
    ///
    /// That number is at most `text.count`; the buffer must have capacity for `slack` more bytes.
    static func unescape(
        _ text: UnsafeBufferPointer<UInt8>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        guard let source = text.baseAddress, let target = buffer.baseAddress else { return 0 }
        let end = source + text.count
        var read = source
        var write = target
        while true {
            // Words may extend beyond the text into the tape's padding.
            let word = UnsafeRawPointer(read).loadUnaligned(as: UInt64.self)
            UnsafeMutableRawPointer(write).storeBytes(of: word, as: UInt64.self)
            let slashes = UInt64(littleEndian: word) ^ 0x5C5C_5C5C_5C5C_5C5C
            let marks = (slashes &- 0x0101_0101_0101_0101) & ~slashes & 0x8080_8080_8080_8080
            let plain = marks.trailingZeroBitCount &>> 3
            if plain >= end - read { return write - target + (end - read) }
            read += plain
            write += plain
            if plain == 8 { continue }
            if read[1] == UInt8(ascii: "u") {
                read += append(escapeAt: read, to: &write)
            } else {
                write.pointee = simpleEscape(read[1])
                read += 2
                write += 1
            }
        }
    }

    /// The character of the escapes for quote, slash, backslash, b, f, n, r and t.
    private static func simpleEscape(_ letter: UInt8) -> UInt8 {
        // Branch-free, because the order of escapes is unpredictable. The table has four bits for
        // each second letter from b on.
        let controls: UInt64 = 0x9D_0A00_0C08
        let control = controls &>> UInt64((letter &- UInt8(ascii: "b")) &* 2) & 0xF
        return letter < UInt8(ascii: "a") ? letter : UInt8(truncatingIfNeeded: control)
    }

    /// The value of four hexadecimal digits.
    private static func hex4(_ at: UnsafePointer<UInt8>) -> UInt32 {
        let digits = UInt32(
            littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt32.self))
        // Letters of either case have a bit that digits lack, and their low four bits start at 1.
        let values = (digits & 0x0F0F_0F0F) &+ (digits >> 6 & 0x0101_0101) &* 9
        let pairs = (values << 4 | values >> 8) & 0x00FF_00FF
        return (pairs << 8 | pairs >> 16) & 0xFFFF
    }

    /// Writes the scalar of a `\u` escape or surrogate pair and returns the length of the escape.
    private static func append(
        escapeAt at: UnsafePointer<UInt8>, to target: inout UnsafeMutablePointer<UInt8>
    ) -> Int {
        var scalar = hex4(at + 2)
        var length = 6
        if scalar & 0xFC00 == 0xD800 {
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + (hex4(at + 8) & 0x3FF)
            length = 12
        }
        let put = { (byte: UInt32, target: inout UnsafeMutablePointer<UInt8>) in
            target.pointee = UInt8(truncatingIfNeeded: byte)
            target += 1
        }
        switch scalar {
        case 0..<0x80:
            put(scalar, &target)
        case 0x80..<0x800:
            put(0xC0 | scalar >> 6, &target)
            put(0x80 | scalar & 0x3F, &target)
        case 0x800..<0x10000:
            put(0xE0 | scalar >> 12, &target)
            put(0x80 | scalar >> 6 & 0x3F, &target)
            put(0x80 | scalar & 0x3F, &target)
        default:
            put(0xF0 | scalar >> 18, &target)
            put(0x80 | scalar >> 12 & 0x3F, &target)
            put(0x80 | scalar >> 6 & 0x3F, &target)
            put(0x80 | scalar & 0x3F, &target)
        }
        return length
    }
}
