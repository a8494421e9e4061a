/// Finding members by key, for decoders: quickest in the order in which they stand there.
extension TapeDecoder {
    /// Called when a container is made: sets up the search its keys need.
    @inline(__always)
    func prepareKeys() {
        if session.convertKey != nil { convertKeys() }
    }

    @inline(never)
    private func convertKeys() {
        guard table == nil, !keepsKeys, let convertKey = session.convertKey else { return }
        let path = codingPath
        table = makeTable { convertKey(path, $0) }
    }

    /// The index of the value under `key`; nil without one.
    @inline(__always)
    func find(_ key: String) -> Int? {
        if table == nil, let short = ShortString(key) {
            let place = cursor.findNext(short)
            if place > 0 { return place }
        }
        return findAnywhere(key)
    }

    @inline(never)
    private func findAnywhere(_ key: String) -> Int? {
        let place =
            key.utf8.withContiguousStorageIfAvailable { find($0) }
            ?? Array(key.utf8).withUnsafeBufferPointer { find($0) }
        return place > 0 ? place : nil
    }

    /// The same, 0 without one.
    @inline(__always)
    private func find(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        if table != nil { return findInTable(key) }
        let place = cursor.find(key)
        return place > 0 ? place : missed(key)
    }

    @inline(never)
    private func findInTable(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        table?[String(decoding: key, as: UTF8.self)] ?? 0
    }

    /// Makes a table for the next searches when those for the keys so far have cost much.
    @inline(never)
    private func missed(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        if cursor.skipped > 16 &* cursor.count &+ 256 { table = makeTable { $0 } }
        return 0
    }

    private func makeTable(_ convert: (String) -> String) -> [String: Int] {
        let tape = session.tape
        var table = [String: Int](minimumCapacity: Word.count(tape.words[index + 1]))
        forEachKey { place in
            let key = convert(tape.string(at: place))
            if table[key] == nil { table[key] = place + 1 }
        }
        return table
    }

    /// The keys as types ask for them, in order and each once.
    func memberKeys() -> [String] {
        var keys: [String] = []
        var seen: Set<String> = []
        let convert = keepsKeys ? nil : session.convertKey
        let path = convert == nil ? [] : codingPath
        forEachKey { place in
            let key = session.tape.string(at: place)
            let converted = convert?(path, key) ?? key
            if seen.insert(converted).inserted { keys.append(converted) }
        }
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

    /// The index of the value under `key`.
    @inline(__always)
    func place(_ key: some CodingKey) throws -> Int {
        guard let place = find(key.stringValue) else { throw missing(key) }
        return place
    }

    /// The index of the value under `key` if there is one that is not null.
    @inline(__always)
    func placeIfPresent(_ key: some CodingKey) -> Int? {
        guard let place = find(key.stringValue) else { return nil }
        return isNull(at: place) ? nil : place
    }

    @inline(never)
    private func missing(_ key: some CodingKey) -> DecodingError {
        .keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    /// A decoder for the value under `key`, or for null if there is none.
    func superDecoder(_ key: some CodingKey) -> TapeDecoder {
        if let place = find(key.stringValue) { return TapeDecoder(self, place, key: key) }
        // Behind its last word every tape has a null.
        return TapeDecoder(self, session.tape.wordCount, key: key)
    }
}
