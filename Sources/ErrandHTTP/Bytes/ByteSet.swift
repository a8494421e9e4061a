/// A set of ASCII bytes with a fast membership test.
///
/// It never contains bytes above 0x7F.
package struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    package init(_ characters: StaticString) {
        characters.withUTF8Buffer { bytes in
            for byte in bytes { insert(byte) }
        }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 {
            low |= 1 << UInt64(byte)
        } else if byte < 128 {
            high |= 1 << UInt64(byte - 64)
        }
    }

    package func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low & (1 << UInt64(byte)) != 0 }
        return byte < 128 && high & (1 << UInt64(byte - 64)) != 0
    }

    package func union(_ characters: StaticString) -> ByteSet {
        let other = ByteSet(characters)
        var result = self
        result.low |= other.low
        result.high |= other.high
        return result
    }

    package static let digits = ByteSet("0123456789")
    static let hexDigits = ByteSet("0123456789abcdefABCDEF")
    package static let letters = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    package static let alphanumeric = letters.union("0123456789")
    /// Unreserved characters (RFC 3986 §2.3).
    package static let unreserved = alphanumeric.union("-._~")
    /// Characters of a token (RFC 9110 §5.6.2).
    package static let token = alphanumeric.union("!#$%&'*+-.^_`|~")
}

extension String {
    /// Creates a string from bytes, with ASCII letters in lower case.
    package init(lowercasingASCII bytes: some Collection<UInt8>) {
        self = String(decoding: bytes, as: UTF8.self).lowercasedASCII()
    }

    /// Whether the text is a token, such as a method or a header name (RFC 9110 §5.6.2).
    package var isToken: Bool {
        for byte in utf8 where !ByteSet.token.contains(byte) { return false }
        return !isEmpty
    }

    /// Whether the text can be sent as a field value: no control characters but tabs (RFC 9110 §5.5).
    package var isFieldValue: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
