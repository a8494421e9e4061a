// Performance annotations: decision 17.

/// Arrays and dictionaries of the standard library, decoded in one loop without containers.
///
/// Their own `init(from:)` copies each element through an existential container. The errors are the
/// same.
protocol TapeCollection {
    /// Decodes the value at `index`, under `key` in `parent`.
    static func decode(
        at index: Int, in parent: TapeDecoder, key: some CodingKey
    ) throws -> Self

    /// Decodes the value of `decoder`.
    static func decode(_ decoder: TapeDecoder) throws -> Self
}

extension Array: TapeCollection where Element: Decodable {
    static func decode(
        at index: Int, in parent: TapeDecoder, key: some CodingKey
    ) throws -> [Element] {
        guard parent.words[index] >> 60 == Word.Kind.array.rawValue else {
            throw parent.session.mismatch([Any].self, at: index, parent.path(key))
        }
        // Bit casts to the same type; the compiler cannot know that it is the same.
        if Element.self == Double.self {
            let items = try parent.scalars(at: index, key) { try $0.double(at: $1, $2) }
            return unsafeBitCast(items, to: [Element].self)
        }
        if Element.self == Int.self {
            let items = try parent.scalars(at: index, key) {
                try $0.integer(Int.self, at: $1, $2)
            }
            return unsafeBitCast(items, to: [Element].self)
        }
        if Element.self == String.self {
            let items = try parent.scalars(at: index, key) { try $0.string(at: $1, $2) }
            return unsafeBitCast(items, to: [Element].self)
        }
        return try parent.child(index, key: key).items()
    }

    static func decode(_ decoder: TapeDecoder) throws -> [Element] {
        guard decoder.words[decoder.index] >> 60 == Word.Kind.array.rawValue else {
            throw decoder.session.mismatch([Any].self, at: decoder.index, decoder.codingPath)
        }
        return try decoder.items()
    }
}

extension TapeDecoder {
    /// Decodes the items of a nested array of scalars without a decoder.
    @inline(__always)
    fileprivate func scalars<T>(
        at index: Int, _ key: some CodingKey,
        _ read: (DecodingSession, Int, DecodingSession.Path) throws -> T
    ) throws -> [T] {
        let count = Word.count(words[index + 1])
        // `init(unsafeUninitializedCapacity:)` is not specialized: it looks up the metadata of the array's storage for
        // each array, which costs as much as thirty short items.
        var items: [T] = []
        items.reserveCapacity(count)
        var place = index + 2
        for item in 0..<count {
            try items.append(
                read(session, place) { self.path(key) + [PlainKey(index: item)] })
            place = end(of: place)
        }
        return items
    }

    /// Decodes the items of this array, of any type.
    fileprivate func items<Element: Decodable>() throws -> [Element] {
        let count = Word.count(words[index + 1])
        // The initializer would write the count into the storage that all empty arrays share.
        guard count > 0 else { return [] }
        return try [Element](unsafeUninitializedCapacity: count) { buffer, filled in
            guard let base = buffer.baseAddress else { return }
            let record = session.record(of: Element.self)
            let isPlain =
                record.pointee.collection == nil && !record.pointee.isFoundations
                && Element.self != Bool.self
            var place = index + 2
            while filled < count {
                if isPlain {
                    var decoder = try spareChild(record, place, key: PlainKey(index: filled))
                    defer { TapeDecoder.release(&decoder, to: record) }
                    try (base + filled).initialize(to: Element(from: decoder))
                } else if let collection = record.pointee.collection {
                    try put(
                        collection, at: place, key: PlainKey(index: filled), into: base + filled)
                } else {
                    try (base + filled).initialize(
                        to: decode(Element.self, at: place, key: PlainKey(index: filled)))
                }
                filled &+= 1
                place = end(of: place)
            }
        }
    }

    /// Decodes an item that is a collection directly into its memory.
    @inline(__always)
    private func put<C: TapeCollection>(
        _ type: C.Type, at place: Int, key: PlainKey, into slot: UnsafeMutableRawPointer
    ) throws {
        let item = try type.decode(at: place, in: self, key: key)
        slot.initializeMemory(as: C.self, to: item)
    }
}

extension Dictionary: TapeCollection where Key == String, Value: Decodable {
    static func decode(
        at index: Int, in parent: TapeDecoder, key: some CodingKey
    ) throws -> [String: Value] {
        guard parent.words[index] >> 60 == Word.Kind.object.rawValue else {
            throw parent.session.mismatch(
                [String: Any].self, at: index, parent.path(key))
        }
        return try decode(parent.child(index, key: key))
    }

    static func decode(_ decoder: TapeDecoder) throws -> [String: Value] {
        let tape = decoder.session.tape
        let index = decoder.index
        guard tape.kind(at: index) == .object else {
            throw decoder.session.mismatch([String: Any].self, at: index, decoder.codingPath)
        }
        var values = [String: Value](minimumCapacity: Word.count(tape.words[index + 1]))
        var place = index + 2
        while place < decoder.cursor.stop {
            let name = tape.string(at: place)
            if values[name] == nil {
                values[name] = try decoder.decode(
                    Value.self, at: place + 1, key: PlainKey(name))
            }
            place = tape.end(of: place + 1)
        }
        return values
    }
}
