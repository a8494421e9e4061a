/// Arrays and dictionaries of the standard library, decoded without containers.
///
/// Their own `init(from:)` asks an existential container for each element and copies it; this does
/// the same in one loop, with the same errors.
protocol TapeCollection {
    /// Decodes the value at `index`, which stands under `key` or at `position` in `parent`.
    static func decode(
        at index: Int, in parent: TapeDecoder, key: (any CodingKey)?, position: Int
    ) throws -> Self
}

extension Array: TapeCollection where Element: Decodable {
    static func decode(
        at index: Int, in parent: TapeDecoder, key: (any CodingKey)?, position: Int
    ) throws -> [Element] {
        let session = parent.session
        guard parent.words[index] >> 60 == Word.Kind.array.rawValue else {
            throw session.mismatch(
                [Any].self, at: index, parent.path(key, position))
        }
        let count = Word.count(parent.words[index + 1])
        return try [Element](unsafeUninitializedCapacity: count) { buffer, filled in
            guard let base = buffer.baseAddress else { return }
            func path() -> [any CodingKey] {
                parent.path(key, position) + [PlainKey(index: filled)]
            }
            @inline(__always)
            func fill<T>(_ read: (Int) throws -> T) rethrows {
                let base = UnsafeMutableRawPointer(base).assumingMemoryBound(to: T.self)
                var place = index + 2
                while filled < count {
                    (base + filled).initialize(to: try read(place))
                    filled &+= 1
                    place = parent.end(of: place)
                }
            }
            if Element.self == Double.self {
                try fill { try session.double(at: $0, path) }
            } else if Element.self == Int.self {
                try fill { try session.integer(Int.self, at: $0, path) }
            } else if Element.self == String.self {
                try fill { try session.string(at: $0, path) }
            } else {
                let child = try parent.child(index, key: key, position: position)
                var spare: TapeDecoder?
                try fill { place in
                    try child.decode(
                        Element.self, at: place, position: filled, reusing: &spare)
                }
            }
        }
    }
}

extension Dictionary: TapeCollection where Key == String, Value: Decodable {
    static func decode(
        at index: Int, in parent: TapeDecoder, key: (any CodingKey)?, position: Int
    ) throws -> [String: Value] {
        let tape = parent.session.tape
        guard tape.kind(at: index) == .object else {
            throw parent.session.mismatch(
                [String: Any].self, at: index, parent.path(key, position))
        }
        let child = try parent.child(index, key: key, position: position)
        var values = [String: Value](minimumCapacity: Word.count(tape.words[index + 1]))
        var place = index + 2
        while place < child.stop {
            let name = tape.string(at: place)
            if values[name] == nil {
                values[name] = try child.decode(
                    Value.self, at: place + 1, key: PlainKey(name), position: 0)
            }
            place = tape.end(of: place + 1)
        }
        return values
    }
}

extension DecodingSession {
    /// The type as a collection, if it is one; remembered, because the cast is slow.
    @inline(__always)
    func collection<T>(_ type: T.Type) -> (any TapeCollection.Type)? {
        let wanted = ObjectIdentifier(type)
        for index in 0..<knownTypes.count where knownTypes[index].type == wanted {
            return knownTypes[index].collection
        }
        return remember(type)
    }

    @inline(never)
    private func remember<T>(_ type: T.Type) -> (any TapeCollection.Type)? {
        let collection = type as? any TapeCollection.Type
        if knownTypes.count < 32 { knownTypes.append((ObjectIdentifier(type), collection)) }
        return collection
    }
}
