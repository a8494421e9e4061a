/// From the bytes of a checked string to its text.
extension Tape {
    /// The text of the string at `index`.
    @inline(__always)
    func string(at index: Int) -> String {
        let text = text(at: index)
        if words[index] >> 60 == Word.Kind.string.rawValue {
            return String(decoding: text, as: UTF8.self)
        }
        return StringText.unescaped(text)
    }

    /// The UTF-8 of the string at `index`, its escapes resolved.
    func unescapedBytes(at index: Int) -> [UInt8] {
        let text = text(at: index)
        guard kind(at: index) == .escaped else { return Array(text) }
        return [UInt8](unsafeUninitializedCapacity: text.count) { buffer, count in
            count = StringText.unescape(text, into: buffer)
        }
    }

    /// Whether the string at `index` is, its escapes resolved, the UTF-8 in `other`.
    @inline(__always)
    func isString(at index: Int, equalTo other: UnsafeBufferPointer<UInt8>) -> Bool {
        let word = words[index]
        guard let base = other.baseAddress else { return Word.length(word) == 0 }
        if word >> 60 == Word.Kind.string.rawValue {
            return Word.length(word) == other.count
                && Bytes.areEqual(bytes + Word.offset(word), base, count: other.count)
        }
        return isEscapedString(at: index, equalTo: other)
    }

    @inline(never)
    private func isEscapedString(
        at index: Int, equalTo other: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        // An escape is never shorter than what it stands for.
        let length = Word.length(words[index])
        return length >= other.count && unescapedBytes(at: index).elementsEqual(other)
    }
}

/// Comparing short texts without a call.
enum Bytes {
    /// Whether `count` bytes at two places are the same: in words that overlap, never beyond them.
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

    @inline(__always)
    private static func isSame<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type, _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ offset: Int
    ) -> Bool {
        UnsafeRawPointer(a + offset).loadUnaligned(as: T.self)
            == UnsafeRawPointer(b + offset).loadUnaligned(as: T.self)
    }
}

/// Resolving escapes that the parser has checked.
enum StringText {
    @inline(never)
    static func unescaped(_ text: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: text.count) { unescape(text, into: $0) }
    }

    /// Writes `text` without its escapes and tells how many bytes that took; never more than
    /// `text` has.
    static func unescape(
        _ text: UnsafeBufferPointer<UInt8>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        guard let source = text.baseAddress, let target = buffer.baseAddress else { return 0 }
        var read = 0
        var written = 0
        while read < text.count {
            // The text's own padding or closing quote allows to read, not to write, beyond it.
            while read &+ 8 <= text.count {
                let word = UnsafeRawPointer(source + read).loadUnaligned(as: UInt64.self)
                UnsafeMutableRawPointer(target + written).storeBytes(of: word, as: UInt64.self)
                let slashes = UInt64(littleEndian: word) ^ 0x5C5C_5C5C_5C5C_5C5C
                let marks =
                    (slashes &- 0x0101_0101_0101_0101) & ~slashes & 0x8080_8080_8080_8080
                let plain = marks.trailingZeroBitCount &>> 3
                read &+= plain
                written &+= plain
                if plain < 8 { break }
            }
            if read == text.count { break }
            let byte = source[read]
            if byte != UInt8(ascii: "\\") {
                target[written] = byte
                read += 1
                written += 1
                continue
            }
            if source[read + 1] == UInt8(ascii: "u") {
                read += append(escapeAt: source + read, to: target, &written)
            } else {
                target[written] = simpleEscape(source[read + 1])
                read += 2
                written += 1
            }
        }
        return written
    }

    private static func simpleEscape(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    /// Writes the scalar that a `\u` escape, or a pair of them, stands for; tells its length.
    private static func append(
        escapeAt at: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>,
        _ written: inout Int
    ) -> Int {
        var scalar = Scan.hex4(at + 2) ?? 0xFFFD
        var length = 6
        if scalar & 0xFC00 == 0xD800 {
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + ((Scan.hex4(at + 8) ?? 0) & 0x3FF)
            length = 12
        }
        let put = { (byte: UInt32, written: inout Int) in
            target[written] = UInt8(truncatingIfNeeded: byte)
            written += 1
        }
        switch scalar {
        case 0..<0x80:
            put(scalar, &written)
        case 0x80..<0x800:
            put(0xC0 | scalar >> 6, &written)
            put(0x80 | scalar & 0x3F, &written)
        case 0x800..<0x10000:
            put(0xE0 | scalar >> 12, &written)
            put(0x80 | scalar >> 6 & 0x3F, &written)
            put(0x80 | scalar & 0x3F, &written)
        default:
            put(0xF0 | scalar >> 18, &written)
            put(0x80 | scalar >> 12 & 0x3F, &written)
            put(0x80 | scalar >> 6 & 0x3F, &written)
            put(0x80 | scalar & 0x3F, &written)
        }
        return length
    }
}
