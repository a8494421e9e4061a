// Performance annotations: decision 17.

/// A string of at most 15 bytes, converted to and from its two words without calls.
///
/// `String` is a frozen type that stores short text inline: the bytes, and in the last byte their
/// count and an ASCII flag. Most keys and many values are short, and the standard library's
/// conversions take several calls each.
struct ShortString {
    /// The bytes, the first one lowest, padded with zeros.
    let low: UInt64
    let high: UInt64
    let count: Int

    static let capacity = 15

    private typealias Bits = (low: UInt64, high: UInt64)

    /// Whether `String` has the expected layout.
    ///
    /// Literals are compared with their expected words; the compiler folds this to a constant.
    static var isKnown: Bool {
        guard MemoryLayout<String>.size == MemoryLayout<Bits>.size else { return false }
        let ascii = unsafeBitCast("0123456789abcde", to: Bits.self)
        let other = unsafeBitCast("é", to: Bits.self)
        return ascii.low == 0x3736_3534_3332_3130 && ascii.high == 0xEF65_6463_6261_3938
            && other.low == 0xA9C3 && other.high == 0xA200_0000_0000_0000
    }

    /// Reads a string; nil if it is longer than 15 bytes or not stored inline.
    @inline(__always)
    init?(_ string: String) {
        guard ShortString.isKnown else { return nil }
        let bits = unsafeBitCast(string, to: Bits.self)
        // Only short strings have these discriminator bits; the ASCII bit is masked out.
        guard bits.high >> 60 & 0b1011 == 0b1010 else { return nil }
        low = bits.low
        high = bits.high & 0x00FF_FFFF_FFFF_FFFF
        count = Int(truncatingIfNeeded: bits.high >> 56 & 0xF)
    }

    /// Creates a string from at most 15 bytes of valid UTF-8.
    ///
    /// Sixteen bytes from `text` must be readable.
    static func string(_ text: UnsafePointer<UInt8>, count: Int) -> String {
        let text = TextPrefix(text, count: count)
        let isASCII = (text.low | text.high) & 0x8080_8080_8080_8080 == 0
        let last = UInt64(truncatingIfNeeded: isASCII ? 0xE0 | count : 0xA0 | count)
        // Moved, because a bit cast copies the string: a call for a count that inline text does not have.
        var bits = (low: text.low, high: text.high | last << 56)
        return withUnsafeMutablePointer(to: &bits) {
            $0.withMemoryRebound(to: String.self, capacity: 1) { $0.move() }
        }
    }

    /// Calls `body` with the bytes.
    func withUTF8<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { bytes in
            bytes.withMemoryRebound(to: UInt8.self) {
                body(UnsafeBufferPointer(rebasing: $0.prefix(count)))
            }
        }
    }
}

/// The first 16 bytes of a text, for comparison without branches.
struct TextPrefix {
    /// The bytes, the first one lowest, padded with zeros.
    let low: UInt64
    let high: UInt64
    private let lowMask: UInt64
    private let highMask: UInt64

    static let capacity = 16

    /// Reads the prefix of a text of `count` bytes; 16 bytes must be readable.
    @inline(__always)
    init(_ text: UnsafePointer<UInt8>, count: Int) {
        (lowMask, highMask) = TextPrefix.masks(count)
        low = Scan.word(text) & lowMask
        high = Scan.word(text + 8) & highMask
    }

    @inline(__always)
    init(_ text: ShortString) {
        (lowMask, highMask) = TextPrefix.masks(text.count)
        low = text.low
        high = text.high
    }

    private static func masks(_ count: Int) -> (UInt64, UInt64) {
        let bits = UInt64(truncatingIfNeeded: count &* 8)
        let low: UInt64 = count >= 8 ? .max : (1 &<< bits) &- 1
        let high: UInt64 =
            count >= 16 ? .max : count <= 8 ? 0 : (1 &<< (bits &- 64)) &- 1
        return (low, high)
    }

    /// Whether a text of the same length has the same prefix; 16 bytes must be readable.
    func begins(_ text: UnsafePointer<UInt8>) -> Bool {
        (Scan.word(text) ^ low) & lowMask | (Scan.word(text + 8) ^ high) & highMask == 0
    }
}
