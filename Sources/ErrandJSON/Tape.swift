/// A parsed document: its bytes and an index of 64-bit words.
///
/// The words are in document order. A string, number or literal has one word: kind, length, and
/// offset in the bytes. An array or object has two words: kind and offset, then the number of its
/// elements or members and the index after its last word. A member is the word of its key followed
/// by the words of its value. Strings and numbers are decoded on access. The word at index 0 is the
/// absent value, the result of unsuccessful lookups; the document's value is at index 1.
///
/// Functions that read words are inlinable. Otherwise loops over values in other modules would
/// retain and release the tape for each value (decision 11).
//
// @unchecked: both buffers are filled before `init` returns and are only read afterwards.
@usableFromInline final class Tape: @unchecked Sendable {
    /// The document, followed by `padding` zero bytes so that scanners can read ahead.
    @usableFromInline let bytes: UnsafePointer<UInt8>
    let byteCount: Int
    /// The words, followed by a null that decoders use for a missing value.
    @usableFromInline let words: UnsafePointer<UInt64>
    let wordCount: Int

    /// The index of the document's value.
    static let root = 1

    /// The number of zero bytes after every document.
    static let padding = 64

    /// Takes ownership of two buffers made by `allocate` and frees them with the tape.
    init(
        adopting bytes: UnsafePointer<UInt8>, byteCount: Int,
        words: UnsafePointer<UInt64>, wordCount: Int
    ) {
        self.bytes = bytes
        self.byteCount = byteCount
        self.words = words
        self.wordCount = wordCount
    }

    deinit {
        bytes.deallocate()
        words.deallocate()
    }

    /// The tape of the absent value.
    static let absent: Tape = {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: Tape.padding)
        bytes.initialize(repeating: 0, count: Tape.padding)
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 2)
        words[0] = Word.make(.absent, length: 0, offset: 0)
        words[1] = Word.make(.null, length: 0, offset: 0)
        return Tape(adopting: bytes, byteCount: 0, words: words, wordCount: 1)
    }()

    /// The kind of the value whose first word is at `index`.
    @inlinable
    func kind(at index: Int) -> Word.Kind { Word.kind(words[index]) }

    /// The index after the last word of the value at `index`.
    @inlinable
    func end(of index: Int) -> Int {
        words[index] >> 60 >= Word.Kind.array.rawValue
            ? Word.end(words[index + 1]) : index + 1
    }

    /// The bytes of the string, number or literal at `index`; for a string without the quotes.
    @inlinable
    func text(at index: Int) -> UnsafeBufferPointer<UInt8> {
        let word = words[index]
        return UnsafeBufferPointer(start: bytes + Word.offset(word), count: Word.length(word))
    }
}

/// The layout of a tape's words.
@usableFromInline enum Word {
    /// The kind of a value; containers are last, so that one comparison detects them.
    @usableFromInline enum Kind: UInt64 {
        case absent, null, `false`, `true`
        /// A number without fraction and exponent.
        case integer
        /// A number with a fraction or an exponent.
        case real
        /// A string without escapes: its bytes are its text.
        case string
        /// A string with escapes.
        case escaped
        case array, object
    }

    /// The maximum length of a text that a word can describe.
    static let maximumLength = 1 << 28 - 1

    @inlinable
    static func make(_ kind: Kind, length: Int, offset: Int) -> UInt64 {
        kind.rawValue << 60 | UInt64(truncatingIfNeeded: length) << 32
            | UInt64(truncatingIfNeeded: offset)
    }

    @inlinable
    static func kind(_ word: UInt64) -> Kind {
        // The tag of a case equals its raw value, and only `make` writes words. `Kind(rawValue:)`
        // would be a call and a search for every value visited.
        unsafeBitCast(UInt8(truncatingIfNeeded: word >> 60), to: Kind.self)
    }

    @inlinable
    static func length(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: word >> 32 & 0x0FFF_FFFF)
    }

    @inlinable
    static func offset(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & 0xFFFF_FFFF) }

    /// A bit in the first word of an object: at least one key has escapes.
    static let hasEscapedKeys: UInt64 = 1 << 32

    /// The second word of a container.
    @inlinable
    static func extent(count: Int, end: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: count) << 32 | UInt64(truncatingIfNeeded: end) & 0xFFFF_FFFF
    }

    @inlinable
    static func count(_ extent: UInt64) -> Int { Int(truncatingIfNeeded: extent >> 32) }

    @inlinable
    static func end(_ extent: UInt64) -> Int { Int(truncatingIfNeeded: extent & 0xFFFF_FFFF) }
}
