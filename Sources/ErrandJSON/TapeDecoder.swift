// Performance annotations: decision 17.

/// A decoder of one value of a tape; also a node of the coding path.
///
/// Variables that every value accesses are not checked for exclusive access (decision 17): one
/// thread at a time uses a decoder, and no access spans a call out of this module.
final class TapeDecoder: Decoder {
    let session: DecodingSession
    private(set) var index: Int
    /// The enclosing decoder, alive while this one decodes; `owner` retains it beyond that.
    private(set) unowned(unsafe) var parent: TapeDecoder?
    private var owner: TapeDecoder?
    /// The key of the value; nil for the top-level value.
    @exclusivity(unchecked) private(set) var key: (any CodingKey)?
    private(set) var depth: Int

    /// The session's tape, copied to avoid an indirection.
    private(set) var words: UnsafePointer<UInt64>
    private(set) var bytes: UnsafePointer<UInt8>
    /// The lookup position in the object, shared by all containers of this value.
    @exclusivity(unchecked) var cursor: MemberCursor
    /// A hash table of the keys, created for converted keys and for objects with many members.
    @exclusivity(unchecked) var table: MemberTable?

    /// The keys of `containerKey` that this document has requested.
    @exclusivity(unchecked) var keys = SoughtKeys()

    /// Whether the decoder is reused for other values, see `DecoderReuse.swift`.
    var isReused = false
    /// The keyed container for reuse, and the type of its keys.
    var container: AnyObject?
    var containerKey: ObjectIdentifier?

    convenience init(_ session: DecodingSession, _ index: Int) {
        self.init(session, index, parent: nil, key: nil, depth: 0)
    }

    @inline(__always)
    convenience init(_ parent: TapeDecoder, _ index: Int, key: some CodingKey) {
        self.init(parent.session, index, parent: parent, key: key, depth: parent.depth &+ 1)
    }

    @inline(__always)
    init(
        _ session: DecodingSession, _ index: Int, parent: TapeDecoder?, key: (any CodingKey)?,
        depth: Int
    ) {
        self.session = session
        self.index = index
        self.parent = parent
        self.owner = parent
        self.key = key
        self.depth = depth
        words = session.tape.words
        bytes = session.tape.bytes
        cursor = MemberCursor(tape: session.tape, object: index)
        session.decoderCount &+= 1
    }

    deinit {
        session.decoderCount &-= 1
        keys.destroy()
    }

    /// Releases the state of the value that is done.
    func rest() {
        parent = nil
        key = nil
        depth = 0
        keys.forget()
        if table != nil { table = nil }
    }

    /// Prepares a reused decoder for another document.
    func read(_ tape: Tape) {
        words = tape.words
        bytes = tape.bytes
    }

    /// Prepares a reused decoder for a value below `parent`.
    @inline(__always)
    func restart(at index: Int, below parent: TapeDecoder, key: some CodingKey) {
        self.parent = parent
        depth = parent.depth &+ 1
        self.key = key
        restart(at: index)
    }

    /// Prepares a reused decoder for the value at `index`, which is a top-level value after `rest`.
    @inline(__always)
    func restart(at index: Int) {
        self.index = index
        cursor = MemberCursor(tape: session.tape, object: index)
        if table != nil { table = nil }
        keys.beginObject()
    }

    /// Retains or releases the parent decoder.
    func hold(parent isHeld: Bool) { owner = isHeld ? parent : nil }

    func isNull(at place: Int) -> Bool { words[place] >> 60 == Word.Kind.null.rawValue }

    /// The index after the last word of the value at `place`.
    func end(of place: Int) -> Int {
        words[place] >> 60 >= Word.Kind.array.rawValue
            ? Word.end(words[place &+ 1]) : place &+ 1
    }

    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var node = self
        while let parent = node.parent {
            if let key = node.key { path.append(key) }
            node = parent
        }
        path.reverse()
        return path
    }

    func path(_ last: some CodingKey) -> [any CodingKey] { codingPath + [last] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try keyedContainer(type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try TapeUnkeyedContainer(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    // MARK: - Values of any type

    /// Decodes the child value at `index`.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, at index: Int, key: some CodingKey
    ) throws -> T {
        // Bit casts, because a dynamic cast of a type to itself takes longer than the decoding.
        if type == String.self {
            let value = try session.string(at: index) { self.path(key) }
            return unsafeBitCast(value, to: T.self)
        }
        if type == Int.self {
            let value = try session.integer(Int.self, at: index) { self.path(key) }
            return unsafeBitCast(value, to: T.self)
        }
        if type == Double.self {
            let value = try session.double(at: index) { self.path(key) }
            return unsafeBitCast(value, to: T.self)
        }
        let record = session.record(of: type)
        if let collection = record.pointee.collection {
            return try decodeCollection(collection, at: index, key)
        }
        if record.pointee.isFoundations {
            let child = try child(index, key: key)
            return try session.foundation.decode(type, child)
        }
        var child = try spareChild(record, index, key: key)
        defer { TapeDecoder.release(&child, to: record) }
        return try T(from: child)
    }

    @inline(__always)
    func decodeCollection<C: TapeCollection, T>(
        _ type: C.Type, at index: Int, _ key: some CodingKey
    ) throws -> T {
        // `T` and `C` are the same type, but the compiler cannot know it.
        unsafeBitCast(
            try type.decode(at: index, in: self, key: key), to: T.self)
    }

    /// Creates a decoder for the child value at `index`.
    @inline(__always)
    func child(_ index: Int, key: some CodingKey) throws -> TapeDecoder {
        guard depth < session.maximumDepth else { throw tooDeep() }
        return TapeDecoder(self, index, key: key)
    }

    func tooDeep() -> DecodingError {
        .dataCorrupted(
            .init(codingPath: codingPath, debugDescription: "The value is nested too deeply."))
    }

    /// Decodes this value itself as another type.
    func decodeSelf<T: Decodable>(_ type: T.Type) throws -> T {
        if let parent, let key {
            return try parent.decode(type, at: index, key: key)
        }
        if session.foundation.handles(type) { return try session.foundation.decode(type, self) }
        guard let collection = session.record(of: type).pointee.collection else {
            return try T(from: self)
        }
        return try decodeSelf(as: collection)
    }

    private func decodeSelf<C: TapeCollection, T>(as type: C.Type) throws -> T {
        // `T` and `C` are the same type, but the compiler cannot know it.
        unsafeBitCast(try type.decode(self), to: T.self)
    }
}

extension TapeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isNull(at: index) }

    func decode(_ type: Bool.Type) throws -> Bool {
        try session.bool(at: index) { self.codingPath }
    }

    func decode(_ type: String.Type) throws -> String {
        try session.string(at: index) { self.codingPath }
    }

    func decode(_ type: Double.Type) throws -> Double {
        try session.double(at: index) { self.codingPath }
    }

    func decode(_ type: Float.Type) throws -> Float {
        try session.float(at: index) { self.codingPath }
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        try session.integer(type, at: index) { self.codingPath }
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decodeSelf(type) }
}
