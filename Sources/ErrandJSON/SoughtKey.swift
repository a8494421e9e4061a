// Performance annotations: decision 17.

/// A short key, prepared for the comparison with members.
struct SoughtKey {
    let text: ShortString
    /// The bits of the key in the filter of a `MemberCursor`.
    let bits: UInt64

    @inline(__always)
    init(_ text: ShortString) {
        self.text = text
        bits = MemberCursor.bits(text)
    }

    /// The upper half of the key's word in a tape: kind and length.
    var head: UInt64 { Word.make(.string, length: text.count, offset: 0) >> 32 }
}

/// The keys of one type of one byte, in practice an enum, that a document has requested.
///
/// The text of a key is requested once for each document, because a key may change its text, and
/// not for each object. The owner must call `destroy`.
struct SoughtKeys {
    private var keys: UnsafeMutablePointer<SoughtKey>?
    /// A bit for each key that is known.
    private var known: UInt64 = 0
    /// The number of objects of this document so far.
    private var objects = 1

    /// Whether keys are kept: from the second object on.
    var areKept: Bool { objects > 1 }

    @inline(__always)
    subscript(_ key: some CodingKey) -> SoughtKey? {
        guard let keys, let index = SoughtKeys.index(key), known &>> UInt64(index) & 1 != 0
        else { return nil }
        return keys[index]
    }

    mutating func add(_ key: some CodingKey, _ sought: SoughtKey) {
        guard let index = SoughtKeys.index(key) else { return }
        let keys = keys ?? .allocate(capacity: KnownKey.capacity)
        (keys + index).initialize(to: sought)
        known |= 1 &<< UInt64(index)
        self.keys = keys
    }

    /// Must be called for each further object.
    mutating func beginObject() { objects &+= 1 }

    /// Forgets the keys at the end of a document.
    mutating func forget() {
        known = 0
        objects = 0
    }

    func destroy() { keys?.deallocate() }

    @inline(__always)
    private static func index<Key: CodingKey>(_ key: Key) -> Int? {
        MemoryLayout<Key>.size == 1 ? KnownKey.index(key) : nil
    }
}
