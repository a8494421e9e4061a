/// A string of at most 15 bytes, taken apart and put together without a call.
///
/// `String` is a frozen type, and one that is so short is kept in the string itself: its bytes, and
/// in the last of the sixteen how many they are and whether they are ASCII. Most keys and many
/// values are; the ways of the standard library to and from their bytes take several calls each.
struct ShortString {
    /// The bytes, the first one lowest, and zeros.
    let low: UInt64
    let high: UInt64
    let count: Int

    static let capacity = 15

    private typealias Bits = (low: UInt64, high: UInt64)

    /// Whether strings are kept here as this type expects.
    ///
    /// It is known when this is compiled: literals are made then, and kept as all strings are.
    @inline(__always)
    static var isKnown: Bool {
        guard MemoryLayout<String>.size == MemoryLayout<Bits>.size else { return false }
        let ascii = unsafeBitCast("0123456789abcde", to: Bits.self)
        let other = unsafeBitCast("é", to: Bits.self)
        return ascii.low == 0x3736_3534_3332_3130 && ascii.high == 0xEF65_6463_6261_3938
            && other.low == 0xA9C3 && other.high == 0xA200_0000_0000_0000
    }

    /// Nil for a longer string, which is kept elsewhere.
    @inline(__always)
    init?(_ string: String) {
        guard ShortString.isKnown else { return nil }
        let bits = unsafeBitCast(string, to: Bits.self)
        // Apart from the bit for ASCII, only short strings begin so.
        guard bits.high >> 60 & 0b1011 == 0b1010 else { return nil }
        low = bits.low
        high = bits.high & 0x00FF_FFFF_FFFF_FFFF
        count = Int(truncatingIfNeeded: bits.high >> 56 & 0xF)
    }

    /// The string of `count` bytes of UTF-8 that have been checked, at most 15; sixteen may be read.
    @inline(__always)
    static func string(_ text: UnsafePointer<UInt8>, count: Int) -> String {
        let text = TextPrefix(text, count: count)
        let isASCII = (text.low | text.high) & 0x8080_8080_8080_8080 == 0
        let last = UInt64(truncatingIfNeeded: isASCII ? 0xE0 | count : 0xA0 | count)
        return unsafeBitCast((text.low, text.high | last << 56), to: String.self)
    }

    /// Lends the bytes to `body`.
    @inline(__always)
    func withUTF8<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { bytes in
            bytes.withMemoryRebound(to: UInt8.self) {
                body(UnsafeBufferPointer(rebasing: $0.prefix(count)))
            }
        }
    }
}

/// The first sixteen bytes of a text, compared with others without a branch.
struct TextPrefix {
    /// The bytes, the first one lowest, and zeros if there are fewer.
    let low: UInt64
    let high: UInt64
    private let lowMask: UInt64
    private let highMask: UInt64

    static let capacity = 16

    /// Takes them from a text of `count` bytes; sixteen may be read.
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

    @inline(__always)
    private static func masks(_ count: Int) -> (UInt64, UInt64) {
        let bits = UInt64(truncatingIfNeeded: count &* 8)
        let low: UInt64 = count >= 8 ? .max : (1 &<< bits) &- 1
        let high: UInt64 =
            count >= 16 ? .max : count <= 8 ? 0 : (1 &<< (bits &- 64)) &- 1
        return (low, high)
    }

    /// Whether a text of the same length begins with the same bytes; sixteen may be read.
    @inline(__always)
    func begins(_ text: UnsafePointer<UInt8>) -> Bool {
        (Scan.word(text) ^ low) & lowMask | (Scan.word(text + 8) ^ high) & highMask == 0
    }
}
