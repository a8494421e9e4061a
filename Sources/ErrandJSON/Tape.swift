/// A parsed document: its bytes and one word of 64 bits for each value.
///
/// The words stand in document order. A string, number or literal has one word: its kind, its
/// length and its offset in the bytes. An array or object has two: kind and offset, then the
/// number of its elements (or members) and the index just past its last word. A member is its
/// key's word followed by its value's. Nothing is decoded before somebody asks. The first word
/// says that there is no value, so that index 0 stands for one that is not found; the document's
/// value is at index 1.
///
/// What reads words is inlinable: only then do the loops of a user's module walk through values
/// without counting references for each.
//
// @unchecked: both buffers are filled before `init` returns and only read from then on.
@usableFromInline final class Tape: @unchecked Sendable {
    /// The document, followed by `padding` zero bytes that let scanners read ahead.
    @usableFromInline let bytes: UnsafePointer<UInt8>
    let byteCount: Int
    /// The words, followed by one more: a null to point to where a decoder misses a value.
    @usableFromInline let words: UnsafePointer<UInt64>
    let wordCount: Int

    /// The index of the document's value.
    static let root = 1

    /// How many zero bytes follow every document.
    static let padding = 64

    /// Takes over two buffers made by `allocate`; they are freed with the tape.
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

    /// The tape without a document: one word that says so.
    static let absent: Tape = {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: Tape.padding)
        bytes.initialize(repeating: 0, count: Tape.padding)
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 2)
        words[0] = Word.make(.absent, length: 0, offset: 0)
        words[1] = Word.make(.null, length: 0, offset: 0)
        return Tape(adopting: bytes, byteCount: 0, words: words, wordCount: 1)
    }()

    /// The kind of the value whose first word is at `index`.
    @inlinable @inline(__always)
    func kind(at index: Int) -> Word.Kind { Word.kind(words[index]) }

    /// The index just past the value at `index`.
    @inlinable @inline(__always)
    func end(of index: Int) -> Int {
        words[index] >> 60 >= Word.Kind.array.rawValue
            ? Word.end(words[index + 1]) : index + 1
    }

    /// The bytes of the string, number or literal at `index`; a string's without its quotes.
    @inlinable @inline(__always)
    func text(at index: Int) -> UnsafeBufferPointer<UInt8> {
        let word = words[index]
        return UnsafeBufferPointer(start: bytes + Word.offset(word), count: Word.length(word))
    }
}

/// The layout of a tape's words.
@usableFromInline enum Word {
    /// What a value is; containers come last so that one comparison finds them.
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

    /// The longest text one word can describe.
    static let maximumLength = 1 << 28 - 1

    @inlinable @inline(__always)
    static func make(_ kind: Kind, length: Int, offset: Int) -> UInt64 {
        kind.rawValue << 60 | UInt64(truncatingIfNeeded: length) << 32
            | UInt64(truncatingIfNeeded: offset)
    }

    @inlinable @inline(__always)
    static func kind(_ word: UInt64) -> Kind {
        // The tag of a case is its place in the list, and so is its raw value; only `make` writes
        // words. `Kind(rawValue:)` would be a call and a search for every value that is visited.
        unsafeBitCast(UInt8(truncatingIfNeeded: word >> 60), to: Kind.self)
    }

    @inlinable @inline(__always)
    static func length(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: word >> 32 & 0x0FFF_FFFF)
    }

    @inlinable @inline(__always)
    static func offset(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & 0xFFFF_FFFF) }

    /// Marks, in the first word of an object, that one of its keys has escapes.
    static let hasEscapedKeys: UInt64 = 1 << 32

    /// The second word of a container.
    @inlinable @inline(__always)
    static func extent(count: Int, end: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: count) << 32 | UInt64(truncatingIfNeeded: end) & 0xFFFF_FFFF
    }

    @inlinable @inline(__always)
    static func count(_ extent: UInt64) -> Int { Int(truncatingIfNeeded: extent >> 32) }

    @inlinable @inline(__always)
    static func end(_ extent: UInt64) -> Int { Int(truncatingIfNeeded: extent & 0xFFFF_FFFF) }
}
