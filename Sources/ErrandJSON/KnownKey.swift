// Performance annotations: decision 17.

/// A cached key: the location of its written text, including quotes and escapes.
struct KnownKey {
    var fingerprint: UInt64 = 0
    var offset: UInt32 = 0
    /// 0 for a key that has not been written yet.
    var length: UInt16 = 0
    /// The generation in which the key was last written or compared, see `EncodingSession.turn`.
    var turn: UInt16 = 0

    /// The number of keys that are cached for one type.
    static let capacity = 64

    /// The index of a key in the table of its type; nil for keys beyond the table.
    ///
    /// It identifies a key by its single byte, in practice the case of an enum. Call it only for
    /// key types of one byte.
    @inline(__always)
    static func index(_ key: some CodingKey) -> Int? {
        let tag = unsafeBitCast(key, to: UInt8.self)
        return tag < capacity ? Int(tag) : nil
    }
}

extension EncodingSession {
    /// Returns the table for a key type; created on first use.
    ///
    /// Returns nil if keys are converted, if the type is larger than one byte, or if 64 tables
    /// exist.
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

    /// The text of a key; at least seven more bytes are readable after it.
    func keyText(_ key: KnownKey) -> UnsafePointer<UInt8> {
        UnsafePointer(keyTexts.base + Int(key.offset))
    }

    /// Caches the text of the key written from `start` to the sink's end.
    func remember(_ sink: ByteSink, from start: Int, _ fingerprint: UInt64) -> KnownKey {
        let length = sink.count - start
        // Long keys are rare; caching them would only make the table large.
        guard length < 256, let offset = UInt32(exactly: keyTexts.count) else { return KnownKey() }
        keyTexts.write(UnsafeBufferPointer(start: sink.base + start, count: length))
        keyTexts.write("        ")
        return KnownKey(
            fingerprint: fingerprint, offset: offset, length: UInt16(length), turn: turn)
    }

    /// Whether a key has the cached text.
    ///
    /// Only keys without escapes match.
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
