import ErrandSystem

/// Encodes any `Encodable` value as an ``Arguments/Node`` tree.
package struct ArgumentNodeEncoder: Encoder {
    /// A mutable slot that an encoding container writes its value to.
    package final class Slot {
        package var content = Content.nothing

        /// The tree in this slot; a slot without a value is null.
        package var node: Arguments.Node {
            switch content {
            case .nothing, .absent: return .null
            case .value(let node): return node
            case .array(let slots): return .array(slots.map(\.node))
            case .object(let members):
                var arguments = Arguments()
                arguments.items = members.map {
                    Arguments.Item(
                        name: $0, node: $1.node, source: .codingKey, isAbsent: $1.isAbsent)
                }
                return .object(arguments)
            }
        }

        fileprivate var isAbsent: Bool {
            if case .absent = content { return true }
            return false
        }
    }

    package enum Content {
        case nothing
        /// The value of a property that is nil.
        case absent
        case value(Arguments.Node)
        case array([Slot])
        case object([(String, Slot)])
    }

    package let slot: Slot
    package let codingPath: [any CodingKey]
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Encodes a value as a tree.
    package static func node(of value: some Encodable) throws -> Arguments.Node {
        try node(of: value, path: [])
    }

    fileprivate static func node(
        of value: some Encodable, path: [any CodingKey]
    ) throws -> Arguments.Node {
        guard path.count <= ArgumentText.maximumDepth else {
            throw ArgumentText.tooDeep(path.first?.stringValue ?? "")
        }
        // Foundation types with an argument form of their own; `encode(to:)` would split them into members.
        switch value {
        case let value as Date: return .date(value)
        case let value as Data: return .data(value)
        case let value as URL: return value.argumentNode
        case let value as UUID: return value.argumentNode
        case let value as Decimal: return .decimal(value)
        case let value as JSON: return value.argumentNode
        default: break
        }
        let slot = Slot()
        try value.encode(to: ArgumentNodeEncoder(slot: slot, codingPath: path))
        switch slot.node {
        // The iteration order of dictionaries and sets is random: sort, so that equal values give equal bytes.
        case .object(var arguments) where value is any StringKeyedDictionary:
            arguments = arguments.sorted()
            for index in arguments.items.indices { arguments.items[index].source = .dictionaryKey }
            return .object(arguments)
        case .array(let nodes) where value is any EncodableSet:
            return .set(nodes)
        case let node:
            return node
        }
    }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = slot.content {} else { slot.content = .object([]) }
        return KeyedEncodingContainer(KeyedContainer<Key>(slot: slot, codingPath: codingPath))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = slot.content {} else { slot.content = .array([]) }
        return UnkeyedContainer(slot: slot, codingPath: codingPath)
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueContainer(slot: slot, codingPath: codingPath)
    }
}

private protocol StringKeyedDictionary {}
extension Dictionary: StringKeyedDictionary where Key == String {}
private protocol EncodableSet {}
extension Set: EncodableSet {}

private struct SingleValueContainer: SingleValueEncodingContainer {
    let slot: ArgumentNodeEncoder.Slot
    let codingPath: [any CodingKey]

    mutating func encodeNil() { slot.content = .value(.null) }

    mutating func encode(_ value: some Encodable) throws {
        if let node = scalarNode(of: value) {
            slot.content = .value(node)
        } else {
            slot.content = .value(try ArgumentNodeEncoder.node(of: value, path: codingPath))
        }
    }
}

private struct UnkeyedContainer: UnkeyedEncodingContainer {
    let slot: ArgumentNodeEncoder.Slot
    let codingPath: [any CodingKey]

    var count: Int {
        if case .array(let slots) = slot.content { slots.count } else { 0 }
    }

    mutating func encodeNil() { add().content = .value(.null) }

    mutating func encode(_ value: some Encodable) throws {
        let path = codingPath + [TreeKey(intValue: count)]
        let node = try scalarNode(of: value) ?? ArgumentNodeEncoder.node(of: value, path: path)
        add().content = .value(node)
    }

    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) -> KeyedEncodingContainer<Key> {
        superEncoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        superEncoder().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        let path = codingPath + [TreeKey(intValue: count)]
        return ArgumentNodeEncoder(slot: add(), codingPath: path)
    }

    private func add() -> ArgumentNodeEncoder.Slot {
        let new = ArgumentNodeEncoder.Slot()
        if case .array(var slots) = slot.content {
            // Release the array before appending, so that the append does not copy it.
            slot.content = .nothing
            slots.append(new)
            slot.content = .array(slots)
        }
        return new
    }
}

private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: ArgumentNodeEncoder.Slot
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) { add(key.stringValue).content = .value(.null) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        let node =
            try scalarNode(of: value)
            ?? ArgumentNodeEncoder.node(of: value, path: codingPath + [key])
        add(key.stringValue).content = .value(node)
    }

    /// Encodes a property; one that is nil gets the style of nulls in queries and forms.
    private mutating func encodeOptional(_ value: (some Encodable)?, _ key: Key) throws {
        guard let value else {
            add(key.stringValue).content = .absent
            return
        }
        try encode(value, forKey: key)
    }

    mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }

    // The standard library calls a function for each of these types.
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        superEncoder(forKey: key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        superEncoder(forKey: key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        ArgumentNodeEncoder(slot: add("super"), codingPath: codingPath)
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        ArgumentNodeEncoder(slot: add(key.stringValue), codingPath: codingPath + [key])
    }

    private func add(_ name: String) -> ArgumentNodeEncoder.Slot {
        let new = ArgumentNodeEncoder.Slot()
        if case .object(var members) = slot.content {
            slot.content = .nothing
            members.append((name, new))
            slot.content = .object(members)
        }
        return new
    }
}

/// The node of a number, string or Boolean; `nil` for every other type.
private func scalarNode(of value: some Encodable) -> Arguments.Node? {
    switch value {
    case let value as String: value.argumentNode
    case let value as Bool: value.argumentNode
    case let value as Int: value.argumentNode
    case let value as Double: value.argumentNode
    case let value as Float: value.argumentNode
    case let value as Int8: value.argumentNode
    case let value as Int16: value.argumentNode
    case let value as Int32: value.argumentNode
    case let value as Int64: value.argumentNode
    case let value as UInt: value.argumentNode
    case let value as UInt8: value.argumentNode
    case let value as UInt16: value.argumentNode
    case let value as UInt32: value.argumentNode
    case let value as UInt64: value.argumentNode
    default: nil
    }
}
