// Performance annotations: decision 17.

/// An encoder of one value into a stream; also a node of the coding path.
final class StreamEncoder: Encoder {
    let session: EncodingSession
    let stream: EncodingStream
    /// The enclosing encoder, alive while this one encodes; `owner` retains it beyond that.
    private(set) unowned(unsafe) var parent: StreamEncoder?
    private var owner: StreamEncoder?
    /// The key of the value; nil for an item of an array, which has a `position`.
    @exclusivity(unchecked) private(set) var key: (any CodingKey)?
    private(set) var position: Int
    /// The stream's sink and the session's settings, copied to avoid an indirection.
    let sink: ByteSink
    let escapesSlashes: Bool
    /// Whether keys are converted; false for dictionary keys, which are data.
    let convertsKeys: Bool

    /// The kind of value written so far.
    private(set) var form = Form.nothing
    /// The number of members or items.
    private(set) var count = 0
    /// The stream depth at which this encoder may write; -1 when it is done.
    private var writableDepth: Int
    @exclusivity(unchecked) private var firstMember: Int
    @exclusivity(unchecked) private var keyIndex: [UInt64: Int]?
    /// A Bloom filter of the keys written, one bit for each fingerprint.
    private var keyBits: UInt64 = 0
    /// The number of bytes of replaced members in the stream.
    private var replacedBytes = 0
    /// The last replaced member, the member that has replaced it, and the number of its bytes.
    @exclusivity(unchecked) private var lastReplaced: (member: Int, by: Int, bytes: Int)?
    /// Values with their own streams, and the offsets at which to insert them.
    @exclusivity(unchecked) private var pending: [(offset: Int, encoder: StreamEncoder)] = []

    /// Whether the encoder is reused for other values, see `EncoderReuse.swift`.
    var isReused = false
    /// The keyed container for reuse, and the type of its keys.
    var container: AnyObject?
    var containerKey: ObjectIdentifier?

    enum Form { case nothing, scalar, object, array }

    init(
        _ session: EncodingSession, stream: EncodingStream, parent: StreamEncoder?,
        key: (any CodingKey)?, position: Int = 0, keepsKeys: Bool = false
    ) {
        self.session = session
        self.stream = stream
        self.parent = parent
        owner = parent
        self.key = key
        self.position = position
        sink = stream.sink
        escapesSlashes = session.escapesSlashes
        convertsKeys = session.convertKey != nil && !keepsKeys
        stream.depth += 1
        writableDepth = stream.depth
        firstMember = stream.memberCount
        session.encoderCount &+= 1
    }

    deinit { session.encoderCount &-= 1 }

    /// Releases the state of the value that is done; false if it is not done.
    func rest() -> Bool {
        parent = nil
        key = nil
        return writableDepth < 0 && pending.isEmpty
    }

    /// Prepares a reused encoder for another value below `parent`.
    @inline(__always)
    func restart(below parent: StreamEncoder?, key: (any CodingKey)?, position: Int) {
        self.parent = parent
        self.key = key
        self.position = position
        form = .nothing
        count = 0
        if keyIndex != nil { keyIndex = nil }
        keyBits = 0
        replacedBytes = 0
        lastReplaced = nil
        if !pending.isEmpty { pending = [] }
        stream.depth += 1
        writableDepth = stream.depth
        firstMember = stream.memberCount
    }

    /// Retains or releases the parent encoder.
    func hold(parent isHeld: Bool) { owner = isHeld ? parent : nil }

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
        keyedContainer(type)
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

    /// Begins or continues an object or array; false if another kind of value was already written.
    @inline(__always)
    func open(_ wanted: Form) -> Bool {
        guard writableDepth == stream.depth else { return false }
        if form == wanted { return true }
        guard form == .nothing else { return false }
        form = wanted
        sink.write(wanted == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        return true
    }

    /// Returns the encoder that writes an object or array.
    ///
    /// If another kind of value was already written, it returns an encoder whose output is
    /// discarded.
    func opened(_ wanted: Form) -> StreamEncoder {
        if open(wanted) { return self }
        session.isOutOfTurn = true
        let discarded = StreamEncoder(
            session, stream: EncodingStream(), parent: parent, key: key, position: position)
        return discarded.opened(wanted)
    }

    /// Writes the key and colon of a member and returns the member's offset, comma included.
    ///
    /// - Parameter known: The cache entry of the key; nil if its type has no cache.
    @inline(__always)
    func beginMember(_ key: some CodingKey, known: UnsafeMutablePointer<KnownKey>?) -> Int {
        checkTurn()
        let start = sink.count
        if count > 0 { sink.write(UInt8(ascii: ",")) }
        let keyStart = sink.count
        let fingerprint: UInt64
        if let known, known.pointee.turn == session.turn {
            sink.write(words: session.keyText(known.pointee), count: Int(known.pointee.length))
            fingerprint = known.pointee.fingerprint
        } else {
            fingerprint = writeKey(key, known)
        }
        let bit: UInt64 = 1 &<< (fingerprint &>> 58)
        if keyBits & bit != 0 || keyIndex != nil {
            return finishRepeated(fingerprint, start: start, keyStart: keyStart)
        }
        keyBits |= bit
        stream.append(fingerprint, start: keyStart)
        sink.write(UInt8(ascii: ":"))
        count &+= 1
        return start
    }

    private func writeKey(
        _ key: some CodingKey, _ known: UnsafeMutablePointer<KnownKey>?
    ) -> UInt64 {
        let start = sink.count
        if convertsKeys {
            write(session.convertKey?(codingPath + [key]) ?? key.stringValue)
        } else {
            let text = key.stringValue
            if let known, session.isText(of: known.pointee, text) {
                known.pointee.turn = session.turn
                sink.write(
                    words: session.keyText(known.pointee), count: Int(known.pointee.length))
                return known.pointee.fingerprint
            }
            write(text)
        }
        let fingerprint = sink.fingerprint(from: start)
        if let known { known.pointee = session.remember(sink, from: start, fingerprint) }
        return fingerprint
    }

    /// Completes `beginMember` for a key that may be repeated in the object.
    private func finishRepeated(_ fingerprint: UInt64, start: Int, keyStart: Int) -> Int {
        let removed = isMostlyReplaced ? compact() : 0
        let member = stream.memberCount
        let replaced = stream.note(
            fingerprint, start: keyStart - removed, since: firstMember, index: &keyIndex)
        sink.write(UInt8(ascii: ":"))
        if let replaced {
            let bytes = stream.length(of: replaced)
            replacedBytes += bytes
            lastReplaced = (replaced, member, bytes)
        } else {
            count &+= 1
        }
        return start - removed
    }

    /// Whether most bytes of the object belong to replaced members: removing them moves fewer bytes than were written.
    private var isMostlyReplaced: Bool {
        replacedBytes > 1024 && replacedBytes > (sink.count - stream.start(of: firstMember)) / 2
    }

    /// Removes the replaced members from the stream; returns the number of removed bytes.
    private func compact() -> Int {
        keyIndex = nil
        (replacedBytes, lastReplaced) = (0, nil)
        return stream.compact(since: firstMember, &pending)
    }

    @inline(__always)
    func beginItem() -> Int {
        checkTurn()
        let start = sink.count
        if count > 0 { sink.write(UInt8(ascii: ",")) }
        count &+= 1
        return start
    }

    /// Removes a member or an item whose encoding failed.
    func takeBack(to mark: Int) {
        sink.truncate(to: mark)
        count -= 1
        if form == .object { dropMember() }
        pending.removeAll { $0.offset >= mark }
    }

    /// Removes the last member; the one that it has replaced is the value of its key again.
    private func dropMember() {
        stream.dropLastMember()
        guard let (member, by, bytes) = lastReplaced, by == stream.memberCount else { return }
        stream.restore(member, index: &keyIndex)
        replacedBytes -= bytes
        lastReplaced = nil
        count += 1
    }

    /// Prepares for writing the value as a scalar.
    @inline(__always)
    func beginScalar() {
        if form != .nothing { session.isOutOfTurn = true }
        checkTurn()
        form = .scalar
    }

    @inline(__always)
    private func checkTurn() {
        if writableDepth != stream.depth { session.isOutOfTurn = true }
    }

    /// Encodes a child value of any type at the end of the stream.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, key: (any CodingKey)?, position: Int) throws {
        if try directly(value, { self.codingPath + [key ?? PlainKey(index: position)] }) { return }
        let record = session.record(of: T.self)
        if let collection = record.pointee.collection,
            try writeScalars(value, as: collection, key, position)
        {
            return
        }
        var child = spareChild(record, T.self, key: key, position: position)
        defer { StreamEncoder.release(&child, to: record) }
        try child.encodeWhole(value, record)
    }

    @inline(__always)
    private func writeScalars<C: StreamCollection, T>(
        _ value: T, as type: C.Type, _ key: (any CodingKey)?, _ position: Int
    ) throws -> Bool {
        // `T` and `C` are the same type, but the compiler cannot know it.
        try withUnsafeBytes(of: value) { bytes in
            guard let base = bytes.baseAddress else { return false }
            return try type.writeScalars(
                base.assumingMemoryBound(to: C.self).pointee, in: self, key: key,
                position: position)
        }
    }

    /// Encodes a value and ends the encoder.
    func encodeWhole<T: Encodable>(_ value: T, _ record: EncodingSession.Records.Record) throws {
        defer { end() }
        guard stream.depth <= Self.maximumDepth else {
            throw invalid(value, "Values are nested more than \(Self.maximumDepth) levels deep.")
        }
        try encodeParts(of: value, record)
        close()
    }

    /// The limit of nested values, which protects the stack; the parser's default is the same.
    private static let maximumDepth = 512

    private func encodeParts<T: Encodable>(
        of value: T, _ record: EncodingSession.Records.Record
    ) throws {
        if let collection = record.pointee.collection {
            try write(value, as: collection)
        } else if try !record.pointee.isFoundations || !session.foundation.encode(value, self) {
            try value.encode(to: self)
        }
    }

    @inline(__always)
    private func write<C: StreamCollection, T>(_ value: T, as type: C.Type) throws {
        // `T` and `C` are the same type, but the compiler cannot know it.
        try withUnsafeBytes(of: value) { bytes in
            guard let base = bytes.baseAddress else { return }
            try type.write(base.assumingMemoryBound(to: C.self).pointee, to: self)
        }
    }

    /// Encodes the top-level value.
    func encodeTop<T: Encodable>(
        _ value: T, _ record: EncodingSession.Records.Record
    ) throws {
        defer { end() }
        let isWritten = try directly(value, { [] })
        if !isWritten {
            try encodeParts(of: value, record)
            guard form != .nothing else {
                throw invalid(value, "The top-level \(T.self) did not encode any value.")
            }
            close()
        }
        if session.isOutOfTurn {
            throw invalid(value, "A value was written to a container that is not open.")
        }
    }

    private func invalid(_ value: some Encodable, _ message: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath, debugDescription: message))
    }

    /// Writes common types of the standard library without a child encoder; false for other types.
    @inline(__always)
    func directly<T>(_ value: T, _ path: () -> [any CodingKey]) throws -> Bool {
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

    /// Closes the open object or array; a value that wrote nothing becomes an empty object.
    func close() {
        if replacedBytes > 0 { _ = compact() }
        if !pending.isEmpty { closePending() }
        switch form {
        case .nothing: sink.write("{}")
        case .scalar: break
        case .object: sink.write(UInt8(ascii: "}"))
        case .array: sink.write(UInt8(ascii: "]"))
        }
    }

    private func closePending() {
        for (offset, encoder) in pending.reversed() {
            encoder.close()
            encoder.end()
            sink.insert(encoder.sink, at: offset)
        }
        pending = []
    }

    /// Returns write access to the enclosing value.
    func end() {
        guard writableDepth >= 0 else { return }
        // Encoders remain here after an error; ending them breaks the reference cycles.
        let left = pending
        pending = []
        for (_, encoder) in left { encoder.end() }
        stream.depth = writableDepth - 1
        stream.dropMembers(from: firstMember)
        writableDepth = -1
    }

    /// Returns a child encoder with its own stream, for a value that may be written later.
    func laterEncoder(key: (any CodingKey)?, position: Int = 0) -> StreamEncoder {
        let later = StreamEncoder(
            session, stream: EncodingStream(capacity: 64), parent: self, key: key,
            position: position)
        pending.append((sink.count, later))
        return later
    }
}
