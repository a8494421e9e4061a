/// Decodes one value of a tape; also a node of the path to it.
final class TapeDecoder: Decoder {
    let session: DecodingSession
    let index: Int
    let parent: TapeDecoder?
    /// The key under which the value stands; for items of arrays the position counts instead.
    let key: (any CodingKey)?
    let position: Int
    let depth: Int
    /// Whether the value's keys are taken as they are, because they are data of a dictionary.
    let keepsKeys: Bool
    /// Where the last key was found, for all containers of this value.
    var cursor: MemberCursor?
    /// Converted or many keys, made when a container first needs them.
    var table: [String: Int]?

    init(_ session: DecodingSession, _ index: Int) {
        self.session = session
        self.index = index
        parent = nil
        key = nil
        position = 0
        depth = 0
        keepsKeys = false
    }

    init(
        _ parent: TapeDecoder, _ index: Int, key: (any CodingKey)?, position: Int = 0,
        keepsKeys: Bool = false
    ) {
        session = parent.session
        self.index = index
        self.parent = parent
        self.key = key
        self.position = position
        self.keepsKeys = keepsKeys
        depth = parent.depth + 1
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

    func path(_ last: some CodingKey) -> [any CodingKey] { codingPath + [last] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try TapeKeyedContainer<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try TapeUnkeyedContainer(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    // MARK: - Values of any type

    /// Decodes the value at `index`, which stands below this one.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, at index: Int, key: (any CodingKey)?, position: Int
    ) throws -> T {
        if let value = try directly(
            type, at: index, { self.codingPath + [key ?? PlainKey(index: position)] })
        {
            return value
        }
        guard depth < session.maximumDepth else { throw tooDeep() }
        let keepsKeys = session.convertKey != nil && type is any StringKeyed.Type
        let child = TapeDecoder(
            self, index, key: key, position: position, keepsKeys: keepsKeys)
        if let value = try session.foundation.decode(type, child) { return value }
        return try T(from: child)
    }

    /// Decodes types of the standard library without a decoder of their own; nil for others.
    @inline(__always)
    private func directly<T>(
        _ type: T.Type, at index: Int, _ path: DecodingSession.Path
    ) throws -> T? {
        // Bit casts, because a dynamic cast of a type to itself costs more than the decoding.
        if type == String.self {
            return unsafeBitCast(try session.string(at: index, path), to: T.self)
        }
        if type == Int.self {
            return unsafeBitCast(try session.integer(Int.self, at: index, path), to: T.self)
        }
        if type == Double.self {
            return unsafeBitCast(try session.double(at: index, path), to: T.self)
        }
        if type == Bool.self {
            return unsafeBitCast(try session.bool(at: index, path), to: T.self)
        }
        return nil
    }

    private func tooDeep() -> DecodingError {
        .dataCorrupted(
            .init(codingPath: codingPath, debugDescription: "The value is nested too deeply."))
    }

    /// Decodes this value itself as another type.
    func decodeSelf<T: Decodable>(_ type: T.Type) throws -> T {
        if let value = try directly(type, at: index, { self.codingPath }) { return value }
        if let value = try session.foundation.decode(type, self) { return value }
        guard session.convertKey != nil, type is any StringKeyed.Type, let parent else {
            return try T(from: self)
        }
        let keeping = TapeDecoder(parent, index, key: key, position: position, keepsKeys: true)
        return try T(from: keeping)
    }
}

/// Dictionaries whose keys are data, which no strategy converts.
protocol StringKeyed {}
extension Dictionary: StringKeyed where Key == String {}

extension TapeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { session.tape.kind(at: index) == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        try session.bool(at: index) { self.codingPath }
    }

    func decode(_ type: String.Type) throws -> String {
        try session.string(at: index) { self.codingPath }
    }

    func decode(_ type: Double.Type) throws -> Double {
        try session.double(at: index) { self.codingPath }
    }

    func decode(_ type: Float.Type) throws -> Float {
        try session.float(at: index) { self.codingPath }
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        try session.integer(type, at: index) { self.codingPath }
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decodeSelf(type) }
}
