/// A set of ASCII bytes, asked in a few instructions.
///
/// Bytes beyond ASCII are never in it.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: StaticString) {
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

    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low & (1 << UInt64(byte)) != 0 }
        return byte < 128 && high & (1 << UInt64(byte - 64)) != 0
    }

    func union(_ characters: StaticString) -> ByteSet {
        let other = ByteSet(characters)
        var result = self
        result.low |= other.low
        result.high |= other.high
        return result
    }

    static let digits = ByteSet("0123456789")
    static let hexDigits = ByteSet("0123456789abcdefABCDEF")
    static let letters = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    static let alphanumeric = letters.union("0123456789")
    /// Unreserved characters (RFC 3986 §2.3).
    static let unreserved = alphanumeric.union("-._~")
    /// Characters of a token (RFC 9110 §5.6.2).
    static let token = alphanumeric.union("!#$%&'*+-.^_`|~")
}

extension String {
    /// Whether the text is a token: a method, a header's name.
    var isToken: Bool {
        for byte in utf8 where !ByteSet.token.contains(byte) { return false }
        return !isEmpty
    }
}
