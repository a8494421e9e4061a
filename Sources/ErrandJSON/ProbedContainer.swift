/// Collections and optionals, for which the element type is probed instead of the type itself.
protocol ProbedContainer {
    static func standIn(
        _ probe: ShapeProbe, _ node: ShapeNode, _ path: [any CodingKey]
    ) throws -> Any?
}

extension Optional: ProbedContainer where Wrapped: Decodable {
    static func standIn(
        _ probe: ShapeProbe, _ node: ShapeNode, _ path: [any CodingKey]
    ) throws -> Any? {
        node.becomesNullable()
        guard !probe.isAsking(Wrapped.self) else { return Wrapped?.none as Any }
        return Wrapped?.some(try probe.standIn(for: Wrapped.self, node, path: path)) as Any
    }
}

extension Array: ProbedContainer where Element: Decodable {
    static func standIn(
        _ probe: ShapeProbe, _ node: ShapeNode, _ path: [any CodingKey]
    ) throws -> Any? {
        guard !probe.isAsking(Element.self) else {
            node.becomes(.array)
            return [Element]()
        }
        return [try probe.standIn(for: Element.self, node.item(), path: path + [ProbeKey.item])]
    }
}

extension Set: ProbedContainer where Element: Decodable {
    static func standIn(
        _ probe: ShapeProbe, _ node: ShapeNode, _ path: [any CodingKey]
    ) throws -> Any? {
        guard !probe.isAsking(Element.self) else {
            node.becomes(.array)
            return Set<Element>()
        }
        let item = try probe.standIn(
            for: Element.self, node.item(), path: path + [ProbeKey.item])
        return Set([item])
    }
}

extension Dictionary: ProbedContainer where Key: Decodable, Value: Decodable {
    static func standIn(
        _ probe: ShapeProbe, _ node: ShapeNode, _ path: [any CodingKey]
    ) throws -> Any? {
        // Only dictionaries with these keys are coded as objects; others are arrays of keys and
        // values.
        guard Key.self == String.self || Key.self == Int.self else {
            node.becomes(.array)
            return [Key: Value]()
        }
        guard !probe.isAsking(Value.self) else {
            node.becomes(.object)
            return [Key: Value]()
        }
        let value = ShapeNode()
        _ = try probe.standIn(for: Value.self, value, path: path + [ProbeKey.item])
        let isNullable = Value.self is any ExpressibleByNilLiteral.Type
        node.becomes(.dictionary(of: isNullable ? value.shape : .nonNull(value.shape)))
        return [Key: Value]()
    }
}

/// A coding key for any item of a collection.
struct ProbeKey: CodingKey {
    static let item = ProbeKey()

    private init() {}
    init?(stringValue: String) { return nil }
    init?(intValue: Int) { return nil }
    var stringValue: String { "0" }
    var intValue: Int? { 0 }
}
