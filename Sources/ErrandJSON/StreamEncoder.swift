/// Encodes one value into a stream; also a node of the path to it.
final class StreamEncoder: Encoder {
    let session: EncodingSession
    let stream: EncodingStream
    let parent: StreamEncoder?
    /// The key under which the value stands; for items of arrays the position counts instead.
    let key: (any CodingKey)?
    @exclusivity(unchecked) private(set) var position: Int
    /// Whether keys are written as they are, because they are data of a dictionary.
    let keepsKeys: Bool
    /// The stream's sink and the session's settings, without the detour.
    let sink: ByteSink
    let escapesSlashes: Bool
    private let convertsKeys: Bool

    /// What has been written so far.
    @exclusivity(unchecked) private(set) var form = Form.nothing
    /// How many members or items.
    @exclusivity(unchecked) private(set) var count = 0
    /// The depth of the stream at which this encoder may write; -1 when it is done.
    @exclusivity(unchecked) private var turn: Int
    @exclusivity(unchecked) private var firstMember: Int
    @exclusivity(unchecked) private var keyIndex: Set<UInt64>?
    /// Values with a stream of their own, and where they belong.
    @exclusivity(unchecked) private var pending: [(offset: Int, encoder: StreamEncoder)] = []

    enum Form { case nothing, scalar, object, array }

    init(
        _ session: EncodingSession, stream: EncodingStream, parent: StreamEncoder?,
        key: (any CodingKey)?, position: Int = 0, keepsKeys: Bool = false
    ) {
        self.session = session
        self.stream = stream
        self.parent = parent
        self.key = key
        self.position = position
        self.keepsKeys = keepsKeys
        sink = stream.sink
        escapesSlashes = session.escapesSlashes
        convertsKeys = session.convertKey != nil && !keepsKeys
        stream.depth += 1
        turn = stream.depth
        firstMember = stream.memberCount
    }

    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var node = self
        while let parent = node.parent {
            path.append(node.key ?? PlainKey(index: node.position))
            node = parent
        }
        path.reverse()
        return path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(StreamKeyedContainer<Key>(opened(.object)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        StreamUnkeyedContainer(opened(.array))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    // MARK: - Writing

    @inline(__always)
    func write(_ value: String) { sink.write(string: value, escapesSlashes: escapesSlashes) }

    @inline(__always)
    func write(_ value: Bool) {
        if value { sink.write("true") } else { sink.write("false") }
    }

    /// Begins an object or array; a form that contradicts what is written already goes nowhere.
    func opened(_ wanted: Form) -> StreamEncoder {
        if form == wanted, turn == stream.depth { return self }
        guard form == .nothing, turn == stream.depth else {
            session.isOutOfTurn = true
            return StreamEncoder(
                session, stream: EncodingStream(), parent: parent, key: key, position: position
            ).opened(wanted)
        }
        form = wanted
        sink.write(wanted == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        return self
    }

    /// Writes the key and colon of a member; gives where the member began, comma included.
    @inline(__always)
    func beginMember(_ key: some CodingKey) -> Int {
        checkTurn()
        let start = sink.count
        if count > 0 { sink.write(UInt8(ascii: ",")) }
        let keyStart = sink.count
        if convertsKeys {
            write(session.convertKey?(codingPath + [key]) ?? key.stringValue)
        } else {
            write(key.stringValue)
        }
        let removed = stream.note(start: keyStart, since: firstMember, index: &keyIndex)
        sink.write(UInt8(ascii: ":"))
        guard let removed else {
            count &+= 1
            return start
        }
        return start - forget(removed)
    }

    /// Moves what was noted behind bytes that have been removed.
    private func forget(_ removed: Range<Int>) -> Int {
        pending.removeAll { removed.contains($0.offset) }
        for index in pending.indices where pending[index].offset >= removed.upperBound {
            pending[index].offset -= removed.count
        }
        return removed.count
    }

    @inline(__always)
    func beginItem() -> Int {
        checkTurn()
        let start = sink.count
        if count > 0 { sink.write(UInt8(ascii: ",")) }
        count &+= 1
        return start
    }

    /// Removes a member or an item that could not be written.
    func takeBack(to mark: Int) {
        sink.truncate(to: mark)
        count -= 1
        if form == .object { stream.dropLastMember() }
        pending.removeAll { $0.offset >= mark }
    }

    /// Marks that the value itself is about to be written, as a scalar.
    @inline(__always)
    private func beginScalar() {
        if form != .nothing { session.isOutOfTurn = true }
        checkTurn()
        form = .scalar
    }

    @inline(__always)
    private func checkTurn() {
        if turn != stream.depth { session.isOutOfTurn = true }
    }

    /// Encodes a value of any type at the end of the stream, below this one.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, key: (any CodingKey)?, position: Int) throws {
        if try directly(value, { self.codingPath + [key ?? PlainKey(index: position)] }) { return }
        let collection = session.collection(T.self)
        if let collection, try writeScalars(value, as: collection, key, position) { return }
        let keepsKeys = session.convertKey != nil && T.self is any StringKeyed.Type
        let child = StreamEncoder(
            session, stream: stream, parent: self, key: key, position: position,
            keepsKeys: keepsKeys)
        try child.encodeWhole(value)
    }

    /// Encodes an item of an array, with the encoder of the item before if nobody kept it.
    @inline(__always)
    func encode<T: Encodable>(
        _ value: T, position: Int, reusing spare: inout StreamEncoder?
    ) throws {
        guard isKnownUniquelyReferenced(&spare), let encoder = spare else {
            if try directly(value, { self.codingPath + [PlainKey(index: position)] }) { return }
            let collection = session.collection(T.self)
            if let collection, try writeScalars(value, as: collection, nil, position) { return }
            let child = StreamEncoder(
                session, stream: stream, parent: self, key: nil, position: position,
                keepsKeys: session.convertKey != nil && T.self is any StringKeyed.Type)
            spare = child
            return try child.encodeWhole(value)
        }
        encoder.restart(at: position)
        try encoder.encodeWhole(value)
    }

    /// Makes an encoder that is done ready for the next item of the same array.
    private func restart(at position: Int) {
        self.position = position
        form = .nothing
        count = 0
        keyIndex = nil
        stream.depth += 1
        turn = stream.depth
        firstMember = stream.memberCount
    }

    @inline(__always)
    private func writeScalars<C: StreamCollection, T>(
        _ value: T, as type: C.Type, _ key: (any CodingKey)?, _ position: Int
    ) throws -> Bool {
        // The same type, which only the caller knows by this name.
        try type.writeScalars(
            unsafeBitCast(value, to: C.self), in: self, key: key, position: position)
    }

    /// Encodes a value and ends this encoder.
    func encodeWhole<T: Encodable>(_ value: T) throws {
        defer { end() }
        try encodeParts(of: value)
        close()
    }

    @inline(__always)
    private func encodeParts<T: Encodable>(of value: T) throws {
        if let collection = session.collection(T.self) {
            try write(value, as: collection)
        } else if try !session.foundation.encode(value, self) {
            try value.encode(to: self)
        }
    }

    @inline(__always)
    private func write<C: StreamCollection, T>(_ value: T, as type: C.Type) throws {
        // The same type, which only the caller knows by this name.
        try type.write(unsafeBitCast(value, to: C.self), to: self)
    }

    /// Encodes the outermost value.
    func encodeTop<T: Encodable>(_ value: T) throws {
        let isWritten = try directly(value, { [] })
        if !isWritten {
            defer { end() }
            try encodeParts(of: value)
            guard form != .nothing else {
                throw invalid(value, "Top-level \(T.self) did not encode any values.")
            }
            close()
        }
        if session.isOutOfTurn {
            throw invalid(value, "A container was written to out of its turn.")
        }
    }

    private func invalid(_ value: some Encodable, _ words: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath, debugDescription: words))
    }

    /// Writes types of the standard library without an encoder of their own; false for others.
    @inline(__always)
    private func directly<T>(_ value: T, _ path: () -> [any CodingKey]) throws -> Bool {
        if T.self == String.self {
            write(unsafeBitCast(value, to: String.self))
        } else if T.self == Int.self {
            sink.write(integer: unsafeBitCast(value, to: Int.self))
        } else if T.self == Double.self {
            try session.write(floating: unsafeBitCast(value, to: Double.self), to: sink, path)
        } else if T.self == Bool.self {
            write(unsafeBitCast(value, to: Bool.self))
        } else {
            return false
        }
        return true
    }

    // MARK: - Ending

    /// Closes what is open; a value that wrote nothing is an empty object.
    func close() {
        for (offset, encoder) in pending.reversed() {
            encoder.close()
            encoder.end()
            sink.insert(encoder.sink, at: offset)
        }
        pending = []
        switch form {
        case .nothing: sink.write("{}")
        case .scalar: break
        case .object: sink.write(UInt8(ascii: "}"))
        case .array: sink.write(UInt8(ascii: "]"))
        }
    }

    /// Hands the stream back to the value around.
    func end() {
        guard turn >= 0 else { return }
        stream.depth = turn - 1
        stream.dropMembers(from: firstMember)
        turn = -1
    }

    /// An encoder for a value below this one that may be written later, at the stream's end.
    func laterEncoder(key: (any CodingKey)?, position: Int = 0) -> StreamEncoder {
        let later = StreamEncoder(
            session, stream: EncodingStream(capacity: 64), parent: self, key: key,
            position: position)
        pending.append((sink.count, later))
        return later
    }
}

extension StreamEncoder: SingleValueEncodingContainer {
    func encodeNil() throws {
        beginScalar()
        sink.write("null")
    }

    func encode(_ value: Bool) throws {
        beginScalar()
        write(value)
    }

    func encode(_ value: String) throws {
        beginScalar()
        write(value)
    }

    func encode(_ value: Double) throws {
        beginScalar()
        try session.write(floating: value, to: sink) { self.codingPath }
    }

    func encode(_ value: Float) throws {
        beginScalar()
        try session.write(floating: value, to: sink) { self.codingPath }
    }

    /// Writes the text of a number as it is.
    func encode(numberText: String) {
        beginScalar()
        var text = numberText
        text.withUTF8 { sink.write($0) }
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger) {
        beginScalar()
        sink.write(integer: value)
    }

    func encode(_ value: Int) throws { integer(value) }
    func encode(_ value: Int8) throws { integer(value) }
    func encode(_ value: Int16) throws { integer(value) }
    func encode(_ value: Int32) throws { integer(value) }
    func encode(_ value: Int64) throws { integer(value) }
    func encode(_ value: Int128) throws { integer(value) }
    func encode(_ value: UInt) throws { integer(value) }
    func encode(_ value: UInt8) throws { integer(value) }
    func encode(_ value: UInt16) throws { integer(value) }
    func encode(_ value: UInt32) throws { integer(value) }
    func encode(_ value: UInt64) throws { integer(value) }
    func encode(_ value: UInt128) throws { integer(value) }

    func encode<T: Encodable>(_ value: T) throws {
        beginScalar()
        if try directly(value, { self.codingPath }) { return }
        // The same place in the path, so the wrapper itself does not appear in it.
        let inner = StreamEncoder(
            session, stream: stream, parent: parent, key: key, position: position,
            keepsKeys: session.convertKey != nil && T.self is any StringKeyed.Type)
        try inner.encodeWhole(value)
    }
}
