/// IPv4 addresses in all spellings that resolvers accept (WHATWG URL §3.5).
///
/// An address has one to four parts in decimal, octal (`0177`) or hexadecimal (`0x7f`); the last part
/// fills all remaining bytes.
package enum IPv4Literal {
    /// Whether the last label of a host is a number; such a host is an IPv4 address or invalid.
    package static func endsInNumber(_ host: some BidirectionalCollection<UInt8>) -> Bool {
        let name = withoutTrailingDot(host)
        // The last character of a number; it excludes most names at once.
        guard let last = name.last,
            ByteSet.hexDigits.contains(last) || last | 0x20 == UInt8(ascii: "x")
        else { return false }
        let label =
            name.lastIndex(of: UInt8(ascii: ".")).map { name[name.index(after: $0)...] } ?? name
        guard let first = label.first, ByteSet.digits.contains(first) else { return false }
        return label.allSatisfy(ByteSet.digits.contains) || value(of: label) != nil
    }

    /// The address as `192.0.2.1`; `nil` if the text is not an IPv4 address.
    package static func canonical(_ host: some BidirectionalCollection<UInt8>) -> String? {
        // The usual spelling needs no further text.
        if dottedDecimal(host) != nil { return String(decoding: host, as: UTF8.self) }
        let parts = withoutTrailingDot(host)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...4).contains(parts.count) else { return nil }
        var address: UInt64 = 0
        for (index, part) in parts.enumerated() {
            guard let value = value(of: part) else { return nil }
            let bytes = index == parts.count - 1 ? 4 - index : 1
            guard value < 1 << UInt64(8 * bytes) else { return nil }
            address = address << UInt64(8 * bytes) | value
        }
        return text(of: UInt32(truncatingIfNeeded: address))
    }

    /// An address of exactly four decimal numbers without leading zeros, which is its canonical form.
    package static func dottedDecimal(_ bytes: some Collection<UInt8>) -> UInt32? {
        var address: UInt32 = 0
        var part: UInt32 = 0
        var digits = 0
        var dots = 0
        for byte in bytes {
            if byte == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                address = address << 8 | part
                part = 0
                digits = 0
                dots += 1
            } else {
                let hasLeadingZero = digits > 0 && part == 0
                guard ByteSet.digits.contains(byte), !hasLeadingZero else { return nil }
                part = part * 10 + UInt32(byte - UInt8(ascii: "0"))
                digits += 1
                guard part <= 255 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? address << 8 | part : nil
    }

    static func text(of address: UInt32) -> String {
        "\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)"
    }

    private static func withoutTrailingDot<Bytes: BidirectionalCollection<UInt8>>(
        _ host: Bytes
    ) -> Bytes.SubSequence {
        host.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
    }

    /// The value of one part, at most `UInt64(UInt32.max) + 1`; `nil` if the part is not a number.
    private static func value(of part: some Collection<UInt8>) -> UInt64? {
        guard let first = part.first else { return nil }
        var digits = part[...]
        var radix: UInt64 = 10
        if first == UInt8(ascii: "0"), part.count > 1 {
            digits = digits.dropFirst()
            radix = 8
            if let sign = digits.first, sign | 0x20 == UInt8(ascii: "x") {
                digits = digits.dropFirst()
                radix = 16
            }
        }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = hexDigitValue(of: byte), digit < radix else { return nil }
            value = min(value * radix + digit, UInt64(UInt32.max) + 1)
        }
        return value
    }

    private static func hexDigitValue(of byte: UInt8) -> UInt64? {
        guard ByteSet.hexDigits.contains(byte) else { return nil }
        return UInt64(PercentEncoding.value(ofHexDigit: byte))
    }
}
