/// Percent-encodes and decodes bytes (RFC 3986 §2.1).
package enum PercentEncoding {
    /// Appends the text with every byte that is not in the set percent-encoded.
    package static func append(
        _ text: some Sequence<UInt8>, keeping set: ByteSet, spaceAsPlus: Bool = false,
        to bytes: inout [UInt8]
    ) {
        for byte in text {
            if set.contains(byte) {
                bytes.append(byte)
            } else if byte == UInt8(ascii: " ") && spaceAsPlus {
                bytes.append(UInt8(ascii: "+"))
            } else {
                appendEscape(of: byte, to: &bytes)
            }
        }
    }

    /// Appends the text percent-encoded; existing escapes are kept, any other `%` becomes `%25`.
    package static func appendKeepingEscapes(
        _ text: some Collection<UInt8>, keeping set: ByteSet, to bytes: inout [UInt8]
    ) {
        var index = text.startIndex
        while index != text.endIndex {
            let byte = text[index]
            text.formIndex(after: &index)
            let isKept =
                byte == UInt8(ascii: "%") ? beginsEscape(text[index...]) : set.contains(byte)
            if isKept {
                bytes.append(byte)
            } else {
                appendEscape(of: byte, to: &bytes)
            }
        }
    }

    /// The text percent-encoded; existing escapes are kept, any other `%` becomes `%25`.
    package static func encoded(_ text: some Collection<UInt8>, keeping set: ByteSet) -> String {
        if isEncoded(text, keeping: set) { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 32)
        appendKeepingEscapes(text, keeping: set, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the text consists of bytes of the set and of escapes only.
    package static func isEncoded(_ text: some Collection<UInt8>, keeping set: ByteSet) -> Bool {
        var digits = 0
        for byte in text {
            if digits > 0 {
                guard ByteSet.hexDigits.contains(byte) else { return false }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            } else if !set.contains(byte) {
                return false
            }
        }
        return digits == 0
    }

    /// The bytes with their escapes decoded; a `%` that starts no escape is kept.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = text.startIndex
        while index != text.endIndex {
            let byte = text[index]
            text.formIndex(after: &index)
            let rest = text[index...]
            if byte == UInt8(ascii: "%"), beginsEscape(rest) {
                let digits = rest.prefix(2).map(value(ofHexDigit:))
                bytes.append(digits[0] << 4 | digits[1])
                index = text.index(index, offsetBy: 2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func beginsEscape(_ rest: some Collection<UInt8>) -> Bool {
        let digits = rest.prefix(2)
        return digits.count == 2 && digits.allSatisfy(ByteSet.hexDigits.contains)
    }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(hexDigit(byte >> 4))
        bytes.append(hexDigit(byte & 15))
    }

    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// The value of a byte of ``ByteSet/hexDigits``.
    static func value(ofHexDigit byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: byte &- UInt8(ascii: "A") &+ 10
        }
    }
}
