/// Finding members by key, for decoders.
extension TapeDecoder {
    /// Called when a container is made: sets up the search its keys need.
    func prepareKeys() {
        guard cursor == nil else { return }
        cursor = MemberCursor(tape: session.tape, object: index)
        guard !keepsKeys, let convertKey = session.convertKey else { return }
        let path = codingPath
        table = makeTable { convertKey(path, $0) }
    }

    /// The index of the value under `key`; nil without one.
    @inline(__always)
    func find(_ key: String) -> Int? {
        if table != nil { return table?[key] }
        var key = key
        let place = key.withUTF8 { cursor?.find($0) }
        if let cursor, cursor.isWorn {
            table = makeTable { $0 }
        }
        return place
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

    /// A decoder for the value under `key`, or for null if there is none.
    func superDecoder(_ key: some CodingKey) -> TapeDecoder {
        if let place = find(key.stringValue) { return TapeDecoder(self, place, key: key) }
        // Behind its last word every tape has a null.
        return TapeDecoder(self, session.tape.wordCount, key: key)
    }
}
