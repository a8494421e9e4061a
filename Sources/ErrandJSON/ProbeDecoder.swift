/// A decoder that returns placeholder values and records the requested keys and types.
struct ProbeDecoder: Decoder {
    let probe: ShapeProbe
    let node: ShapeNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { probe.options.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        node.becomesObject()
        return KeyedDecodingContainer(
            ProbeKeyedContainer<Key>(probe: probe, node: node, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ProbeUnkeyedContainer(probe: probe, node: node.item(), codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ProbeSingleContainer(probe: probe, node: node, codingPath: codingPath)
    }
}

/// A container of one placeholder value, which is never null.
struct ProbeSingleContainer: SingleValueDecodingContainer {
    let probe: ShapeProbe
    let node: ShapeNode
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool {
        node.becomesNullable()
        return false
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        node.becomes(.bool)
        return false
    }

    func decode(_ type: String.Type) throws -> String {
        node.becomes(.string)
        return node.forced?.string ?? ""
    }

    func decode(_ type: Double.Type) throws -> Double {
        node.becomes(.double)
        return 0
    }

    func decode(_ type: Float.Type) throws -> Float {
        node.becomes(.double)
        return 0
    }

    func decode(_ type: Int.Type) throws -> Int { integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { integer() }
    func decode(_ type: UInt.Type) throws -> UInt { integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { integer() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try probe.standIn(for: type, node, path: codingPath)
    }

    private func integer<T: FixedWidthInteger>() -> T {
        if let lower = Int(exactly: T.min), let upper = Int(exactly: T.max), T.self != Int.self,
            T.bitWidth < 64
        {
            node.becomes(.range(lower...upper))
        } else {
            node.becomes(.int)
        }
        return node.forced?.integer(T.self) ?? 0
    }
}

/// An array with one placeholder element and an unknown count.
struct ProbeUnkeyedContainer: UnkeyedDecodingContainer {
    let probe: ShapeProbe
    let node: ShapeNode
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(probe: ShapeProbe, node: ShapeNode, codingPath: [any CodingKey]) {
        self.probe = probe
        self.node = node
        self.codingPath = codingPath
    }

    var count: Int? { nil }
    var isAtEnd: Bool { currentIndex > 0 }

    mutating func decodeNil() throws -> Bool {
        node.becomesNullable()
        return false
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // A second element could have another type (a tuple), which one item shape cannot describe.
        guard currentIndex == 0 else { throw ShapeProbe.refusal(of: type, codingPath) }
        currentIndex += 1
        return try probe.standIn(for: type, node, path: codingPath + [ProbeKey.item])
    }

    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        currentIndex += 1
        return ProbeDecoder(probe: probe, node: node, codingPath: codingPath + [ProbeKey.item])
    }
}

/// An object that contains every requested key.
struct ProbeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: ShapeProbe
    let node: ShapeNode
    let codingPath: [any CodingKey]

    /// Empty, because the keys are not known in advance.
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        // A type that calls `contains` treats the key as optional. If the name cannot be
        // determined, the error is thrown when the value is decoded.
        if let name = try? probe.name(of: key, path: codingPath) { node.memberIsOptional(name) }
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try member(key).becomesNullable()
        return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try probe.standIn(for: type, member(key), path: codingPath + [key])
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let member = try member(key)
        node.memberIsOptional(try probe.name(of: key, path: codingPath))
        guard !probe.isAsking(type) else { return nil }
        return try probe.standIn(for: type, member, path: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        ProbeDecoder(probe: probe, node: node.member("super"), codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ProbeDecoder(probe: probe, node: try member(key), codingPath: codingPath + [key])
    }

    private func member(_ key: Key) throws -> ShapeNode {
        node.member(try probe.name(of: key, path: codingPath))
    }
}
