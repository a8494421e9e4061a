import Foundation

/// Turns any `Encodable` into a tree of arguments.
struct ArgumentNodeEncoder: Encoder {
    /// A place that an encoded value is put into, whoever holds it.
    final class Place {
        var content = Content.nothing

        /// The tree under this place; what nobody encoded is null.
        var node: ArgumentNode {
            switch content {
            case .nothing: return .null
            case .value(let node): return node
            case .array(let places): return .array(places.map(\.node))
            case .object(let members):
                var arguments = Arguments()
                for (name, place) in members { arguments.append(name, place.node) }
                return .object(arguments)
            }
        }
    }

    enum Content {
        case nothing
        case value(ArgumentNode)
        case array([Place])
        case object([(String, Place)])
    }

    let place: Place
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The tree of a value.
    static func node(of value: some Encodable) throws -> ArgumentNode {
        try node(of: value, path: [])
    }

    fileprivate static func node(
        of value: some Encodable, path: [any CodingKey]
    ) throws -> ArgumentNode {
        guard path.count <= ArgumentText.maximumDepth else {
            throw ArgumentText.tooDeep(path.first?.stringValue ?? "")
        }
        // Values that arguments know; their own `encode(to:)` would take them apart.
        switch value {
        case let value as Date: return .date(value)
        case let value as Data: return .data(value)
        case let value as URL: return value.argumentNode
        case let value as UUID: return value.argumentNode
        case let value as Decimal: return .decimal(value)
        default: break
        }
        let place = Place()
        try value.encode(to: ArgumentNodeEncoder(place: place, codingPath: path))
        switch place.node {
        // The order of these two differs from run to run: sort, so that equal values give equal bytes.
        case .object(let arguments) where value is any StringKeyedDictionary:
            return .object(arguments.sorted())
        case .array(let nodes) where value is any EncodableSet:
            return .set(nodes)
        case let node:
            return node
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = place.content {} else { place.content = .object([]) }
        return KeyedEncodingContainer(KeyedPlaces<Key>(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = place.content {} else { place.content = .array([]) }
        return UnkeyedPlaces(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SinglePlace(place: place, codingPath: codingPath)
    }
}

private protocol StringKeyedDictionary {}
extension Dictionary: StringKeyedDictionary where Key == String {}
private protocol EncodableSet {}
extension Set: EncodableSet {}

private struct SinglePlace: SingleValueEncodingContainer {
    let place: ArgumentNodeEncoder.Place
    let codingPath: [any CodingKey]

    mutating func encodeNil() { place.content = .value(.null) }

    mutating func encode(_ value: some Encodable) throws {
        if let node = plainNode(of: value) {
            place.content = .value(node)
        } else {
            place.content = .value(try ArgumentNodeEncoder.node(of: value, path: codingPath))
        }
    }
}

private struct UnkeyedPlaces: UnkeyedEncodingContainer {
    let place: ArgumentNodeEncoder.Place
    let codingPath: [any CodingKey]

    var count: Int {
        if case .array(let places) = place.content { places.count } else { 0 }
    }

    mutating func encodeNil() { add().content = .value(.null) }

    mutating func encode(_ value: some Encodable) throws {
        let path = codingPath + [Index(intValue: count)]
        let node = try plainNode(of: value) ?? ArgumentNodeEncoder.node(of: value, path: path)
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
        let path = codingPath + [Index(intValue: count)]
        return ArgumentNodeEncoder(place: add(), codingPath: path)
    }

    private func add() -> ArgumentNodeEncoder.Place {
        let new = ArgumentNodeEncoder.Place()
        if case .array(var places) = place.content {
            // Let go of the array first, so that appending does not copy it.
            place.content = .nothing
            places.append(new)
            place.content = .array(places)
        }
        return new
    }

    private struct Index: CodingKey {
        let index: Int
        init(intValue: Int) { index = intValue }
        init?(stringValue: String) { return nil }
        var intValue: Int? { index }
        var stringValue: String { String(index) }
    }
}

private struct KeyedPlaces<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: ArgumentNodeEncoder.Place
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) { add(key.stringValue).content = .value(.null) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        let node =
            try plainNode(of: value)
            ?? ArgumentNodeEncoder.node(of: value, path: codingPath + [key])
        add(key.stringValue).content = .value(node)
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
        ArgumentNodeEncoder(place: add("super"), codingPath: codingPath)
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        ArgumentNodeEncoder(place: add(key.stringValue), codingPath: codingPath + [key])
    }

    private func add(_ name: String) -> ArgumentNodeEncoder.Place {
        let new = ArgumentNodeEncoder.Place()
        if case .object(var members) = place.content {
            place.content = .nothing
            members.append((name, new))
            place.content = .object(members)
        }
        return new
    }
}

/// The node of a number, a text or a truth value; `nil` for everything that must be taken apart.
private func plainNode(of value: some Encodable) -> ArgumentNode? {
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
