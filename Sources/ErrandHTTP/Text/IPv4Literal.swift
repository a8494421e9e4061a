/// IPv4 addresses in all spellings that resolvers accept (WHATWG URL §3.5).
///
/// An address has one to four parts in decimal, octal (`0177`) or hexadecimal (`0x7f`); the last part
/// fills all remaining bytes.
package enum IPv4Literal {
    /// Whether the last label of a host is a number; such a host is an IPv4 address or invalid.
    package static func endsInNumber(_ host: some BidirectionalCollection<UInt8>) -> Bool {
        let name = withoutTrailingDot(host)
        let label =
            name.lastIndex(of: UInt8(ascii: ".")).map { name[name.index(after: $0)...] } ?? name
        guard let first = label.first, ByteSet.digits.contains(first) else { return false }
        return label.allSatisfy(ByteSet.digits.contains) || value(of: label) != nil
    }

    /// The address as `192.0.2.1`; `nil` if the text is not an IPv4 address.
    package static func canonical(_ host: some BidirectionalCollection<UInt8>) -> String? {
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

    /// An address of exactly four decimal numbers without leading zeros, as at the end of an IPv6 address.
    static func dottedDecimal(_ bytes: some Collection<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy(ByteSet.digits.contains),
                part.count == 1 || part.first != UInt8(ascii: "0"),
                let value = value(of: part), value <= 255
            else { return nil }
            address = address << 8 | UInt32(value)
        }
        return address
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
