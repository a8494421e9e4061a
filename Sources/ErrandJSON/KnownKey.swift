/// A key that has been written before: where its text is kept, quotes and escapes included.
struct KnownKey {
    var fingerprint: UInt64 = 0
    var offset: UInt32 = 0
    /// 0 for a key that has not been written yet.
    var length: UInt16 = 0
    /// The session's turn in which the key was written or checked last.
    var turn: UInt16 = 0

    /// How many keys of one type are remembered.
    static let capacity = 64

    /// The place of a key in its type's table; nil for those beyond the table.
    ///
    /// Keys of one byte, enumerations in practice, are told apart by it; no others may be asked.
    @inline(__always)
    static func index(_ key: some CodingKey) -> Int? {
        let tag = unsafeBitCast(key, to: UInt8.self)
        return tag < capacity ? Int(tag) : nil
    }
}

extension EncodingSession {
    /// The table for keys of a type; nil if they are converted or
    /// have no place in one, or if there are very many types of them.
    func knownKeys<Key: CodingKey>(
        of type: Key.Type, areConverted: Bool
    ) -> UnsafeMutablePointer<KnownKey>? {
        guard !areConverted, MemoryLayout<Key>.size == 1 else { return nil }
        let wanted = ObjectIdentifier(type)
        for known in keyTables where known.type == wanted { return known.table }
        if keyTables.count >= 64 { return nil }
        let table = UnsafeMutablePointer<KnownKey>.allocate(capacity: KnownKey.capacity)
        table.initialize(repeating: KnownKey(), count: KnownKey.capacity)
        keyTables.append((wanted, table))
        return table
    }

    /// The text of a key, followed by at least seven more bytes.
    @inline(__always)
    func keyText(_ key: KnownKey) -> UnsafePointer<UInt8> {
        UnsafePointer(keyTexts.base + Int(key.offset))
    }

    /// Keeps the text of the key that has been written from `start` to the sink's end.
    func remember(_ sink: ByteSink, from start: Int, _ fingerprint: UInt64) -> KnownKey {
        let length = sink.count - start
        // Long keys are rare, and a table of them would only be large.
        guard length < 256, let offset = UInt32(exactly: keyTexts.count) else { return KnownKey() }
        keyTexts.write(UnsafeBufferPointer(start: sink.base + start, count: length))
        keyTexts.write("        ")
        return KnownKey(
            fingerprint: fingerprint, offset: offset, length: UInt16(length), turn: turn)
    }

    /// Whether a key still has the text that was written for an earlier value, without escapes.
    @inline(__always)
    func isText(of known: KnownKey, _ key: String) -> Bool {
        guard known.length > 0 else { return false }
        let written = UnsafeBufferPointer(
            start: keyText(known) + 1, count: Int(known.length) &- 2)
        return key.utf8.withContiguousStorageIfAvailable { text in
            guard let base = text.baseAddress, let start = written.baseAddress else { return false }
            return text.count == written.count
                && Bytes.areEqual(base, start, count: text.count)
        } ?? false
    }
}
