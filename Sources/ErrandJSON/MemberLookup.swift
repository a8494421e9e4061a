// Performance annotations: decision 17.

/// A hash table of the members of an object.
enum MemberTable {
    /// Keys as written in the document.
    case written([ExactKey: Int])
    /// Keys after the conversion of `keyDecodingStrategy`.
    case converted([String: Int])
}

/// A key compared by its bytes, as `MemberCursor` does; `String` compares by canonical equivalence.
struct ExactKey: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactKey, right: ExactKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Member lookup by key for decoders, fastest in document order.
extension TapeDecoder {
    /// Prepares the lookup for converted keys; called when a container is created.
    func prepareKeys() {
        if session.convertKey != nil { convertKeys() }
    }

    private func convertKeys() {
        guard table == nil, let convertKey = session.convertKey else { return }
        let path = codingPath
        table = .converted(makeTable { convertKey(path, $0) })
    }

    /// The index of the value for `key`; nil if there is none.
    @inline(__always)
    func find<Key: CodingKey>(_ key: Key) -> Int? {
        if table == nil, containerKey == ObjectIdentifier(Key.self), let known = keys[key] {
            let place = cursor.findNext(known)
            return place > 0 ? place : findElsewhere(known, key.stringValue)
        }
        return findByText(key)
    }

    @inline(never)
    private func findByText<Key: CodingKey>(_ key: Key) -> Int? {
        let text = key.stringValue
        guard table == nil, let short = ShortString(text) else { return findAnywhere(text) }
        let sought = SoughtKey(short)
        if keys.areKept, containerKey == ObjectIdentifier(Key.self) { keys.add(key, sought) }
        let place = cursor.findNext(sought)
        return place > 0 ? place : findElsewhere(sought, text)
    }

    /// The index of the value for a key that is not the next one.
    @inline(never)
    private func findElsewhere(_ sought: SoughtKey, _ key: String) -> Int? {
        let skipped = cursor.findAside(sought)
        return skipped > 0 ? skipped : findAnywhere(key)
    }

    private func findAnywhere(_ key: String) -> Int? {
        let place =
            key.utf8.withContiguousStorageIfAvailable { find($0) }
            ?? Array(key.utf8).withUnsafeBufferPointer { find($0) }
        return place > 0 ? place : nil
    }

    /// The index of the value for `key`; 0 if there is none.
    @inline(__always)
    private func find(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        if table != nil { return findInTable(key) }
        let place = cursor.find(key)
        // Successful searches compare members as well: in an object with many members each search
        // may start at the first one.
        if cursor.skipped > 16 &* cursor.count &+ 256 { table = .written(makeTable(ExactKey.init)) }
        return place
    }

    private func findInTable(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        let key = String(decoding: key, as: UTF8.self)
        switch table {
        case .written(let places): return places[ExactKey(key)] ?? 0
        case .converted(let places): return places[key] ?? 0
        case nil: return 0
        }
    }

    private func makeTable<Key: Hashable>(_ key: (String) -> Key) -> [Key: Int] {
        let tape = session.tape
        var places = [Key: Int](minimumCapacity: Word.count(tape.words[index + 1]))
        forEachKey { place in
            let key = key(tape.string(at: place))
            if places[key] == nil { places[key] = place + 1 }
        }
        return places
    }

    /// The converted keys in document order, each once.
    func memberKeys() -> [String] {
        var keys: [String] = []
        var seen: Set<String> = []
        let convert = session.convertKey
        let path = convert == nil ? [] : codingPath
        forEachKey { place in
            let key = session.tape.string(at: place)
            let converted = convert?(path, key) ?? key
            if seen.insert(converted).inserted { keys.append(converted) }
        }
        // The caller will probably look up each of the keys.
        if table == nil, keys.count > 64 { table = .written(makeTable(ExactKey.init)) }
        return keys
    }

    private func forEachKey(_ body: (Int) -> Void) {
        let tape = session.tape
        let stop = Word.end(tape.words[index + 1])
        var place = index + 2
        while place < stop {
            body(place)
            place = tape.end(of: place + 1)
        }
    }

    /// The index of the value for `key`.
    ///
    /// - Throws: `DecodingError.keyNotFound`.
    @inline(__always)
    func place(_ key: some CodingKey) throws -> Int {
        guard let place = find(key) else { throw missing(key) }
        return place
    }

    /// The index of the value for `key`; nil if it is missing or null.
    @inline(__always)
    func placeIfPresent(_ key: some CodingKey) -> Int? {
        guard let place = find(key) else { return nil }
        return isNull(at: place) ? nil : place
    }

    private func missing(_ key: some CodingKey) -> DecodingError {
        .keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    /// A decoder for the value for `key`, or for null if it is missing.
    func superDecoder(_ key: some CodingKey) -> TapeDecoder {
        if let place = find(key) { return TapeDecoder(self, place, key: key) }
        // Every tape has a null after its last word.
        return TapeDecoder(self, session.tape.wordCount, key: key)
    }
}
