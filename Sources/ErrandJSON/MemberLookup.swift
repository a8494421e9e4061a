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
        // Nothing is found but by the table.
        next = stop
    }

    /// The index of the value under `key`; nil without one.
    @inline(__always)
    func find(_ key: String) -> Int? {
        let place =
            key.utf8.withContiguousStorageIfAvailable { find($0) }
            ?? Array(key.utf8).withUnsafeBufferPointer { find($0) }
        return place > 0 ? place : nil
    }

    /// The same, 0 without one.
    @inline(__always)
    private func find(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        let place = next
        guard place < stop, isKey(at: place, equalTo: key) else { return search(key) }
        next = end(of: place &+ 1)
        return place &+ 1
    }

    @inline(__always)
    private func isKey(at place: Int, equalTo text: UnsafeBufferPointer<UInt8>) -> Bool {
        let word = words[place]
        guard word >> 60 == Word.Kind.string.rawValue, let base = text.baseAddress else {
            return session.tape.isString(at: place, equalTo: text)
        }
        return Word.length(word) == text.count
            && Bytes.areEqual(bytes + Word.offset(word), base, count: text.count)
    }

    /// The index of the value under a key that is not the next one; 0 without one.
    @inline(never)
    private func search(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        if let table { return table[String(decoding: text, as: UTF8.self)] ?? 0 }
        let start = next
        let found = search(text, from: start, to: stop)
        if found > 0 { return found }
        let foundBefore = search(text, from: index &+ 2, to: start)
        if foundBefore > 0 { return foundBefore }
        if skipped > 16 &* Word.count(words[index + 1]) &+ 256 {
            table = makeTable { $0 }
            next = stop
        }
        return 0
    }

    @inline(__always)
    private func search(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> Int {
        var place = start
        while place < end {
            let after = self.end(of: place &+ 1)
            if isKey(at: place, equalTo: text) {
                next = after
                return place &+ 1
            }
            skipped &+= 1
            place = after
        }
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
