import ErrandJSON

/// Compares the key of an object, whose bytes arrive in chunks, with a name; escapes are decoded.
struct JSONKeyMatcher: Sendable {
    private var name: [UInt8] = []
    /// The number of bytes of the name that the key has so far; nil if it differs.
    private var matched: Int? = 0
    private var isEscape = false
    private var hexDigits = 0
    private var hexValue: UInt32 = 0
    /// The first half of a surrogate pair, until the second one arrives.
    private var highSurrogate: UInt32?

    /// Begins the comparison of a key with a name.
    mutating func begin(_ name: [UInt8]) {
        self = JSONKeyMatcher()
        self.name = name
    }

    /// Whether the key, which is complete, equals the name.
    var isMatch: Bool { matched == name.count && highSurrogate == nil }

    /// Reads bytes between the quotes of the key.
    mutating func read(_ bytes: some Sequence<UInt8>) {
        for byte in bytes where matched != nil { read(byte) }
    }

    private mutating func read(_ byte: UInt8) {
        if hexDigits > 0 {
            hexValue = hexValue << 4 | (Scan.hex(byte) ?? 0)
            hexDigits -= 1
            if hexDigits == 0 { compare(codeUnit: hexValue) }
        } else if isEscape {
            isEscape = false
            if byte == UInt8(ascii: "u") {
                (hexDigits, hexValue) = (4, 0)
            } else {
                compare(Self.escaped(byte) ?? byte)
            }
        } else if byte == UInt8(ascii: "\\") {
            isEscape = true
        } else {
            compare(byte)
        }
    }

    private mutating func compare(_ byte: UInt8) {
        guard let index = matched, highSurrogate == nil, index < name.count, name[index] == byte
        else {
            matched = nil
            return
        }
        matched = index + 1
    }

    private mutating func compare(codeUnit: UInt32) {
        var value = codeUnit
        if let high = highSurrogate {
            guard (0xDC00...0xDFFF).contains(value) else {
                matched = nil
                return
            }
            value = 0x10000 + (high - 0xD800) << 10 + (value - 0xDC00)
            highSurrogate = nil
        } else if (0xD800...0xDBFF).contains(value) {
            highSurrogate = value
            return
        }
        guard let scalar = Unicode.Scalar(value) else {
            matched = nil
            return
        }
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { compare(byte) }
    }

    /// The byte that a letter after a backslash means; nil for bytes that cannot follow one.
    static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }
}
