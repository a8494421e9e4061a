import ErrandSystem

/// Runs the `init(from:)` of types with placeholder values and records their requests.
final class ShapeProbe {
    let options: JSONReader
    /// The types being probed, outermost first; a recursive type is not probed again.
    private var stack: [ObjectIdentifier] = []

    init(options: JSONReader) { self.options = options }

    func isAsking(_ type: any Any.Type) -> Bool { stack.contains(ObjectIdentifier(type)) }

    static func refusal(of type: any Any.Type, _ path: [any CodingKey]) -> JSONShapeDerivationError
    {
        JSONShapeDerivationError(
            path: text(of: path),
            reason: "\(type) rejected a placeholder value; declare its shape explicitly."
        )
    }

    static func text(of path: [any CodingKey]) -> String {
        path.reduce(into: "$") { $0 += $1.intValue == nil ? ".\($1.stringValue)" : "[]" }
    }

    /// Creates a placeholder value of a type and records the type's shape in `node`.
    func standIn<T: Decodable>(
        for type: T.Type, _ node: ShapeNode, path: [any CodingKey]
    ) throws -> T {
        // Checked first and separately, because nil is a valid placeholder for an optional.
        if let made = plainStandIn(for: type, node), let value = made as? T { return value }
        if let type = type as? any ProbedContainer.Type,
            let made = try type.standIn(self, node, path), let value = made as? T
        {
            return value
        }
        guard !isAsking(type) else {
            throw JSONShapeDerivationError(
                path: Self.text(of: path),
                reason:
                    "\(type) contains itself without end; declare its shape explicitly.")
        }
        stack.append(ObjectIdentifier(type))
        defer { stack.removeLast() }
        do {
            return try T(from: ProbeDecoder(probe: self, node: node, codingPath: path))
        } catch let error as JSONShapeDerivationError {
            throw error
        } catch {
            guard let cases = type as? any CaseIterable.Type,
                let value = try standIn(amongCasesOf: cases, as: type, node, path)
            else { throw Self.refusal(of: type, path) }
            return value
        }
    }

    /// Creates the first case of an enum with raw values.
    ///
    /// The enum's own `init(from:)` must accept the raw value of every case.
    private func standIn<Cases: CaseIterable, T: Decodable>(
        amongCasesOf cases: Cases.Type, as type: T.Type, _ node: ShapeNode, _ path: [any CodingKey]
    ) throws -> T? {
        let values = cases.allCases.map { Self.json(ofRawValueOf: $0) }
        guard !values.isEmpty, values.allSatisfy(\.exists) else { return nil }
        var first: T?
        for value in values {
            node.forced = value
            defer { node.forced = nil }
            let made = try? T(from: ProbeDecoder(probe: self, node: node, codingPath: path))
            guard let made else { return nil }
            first = first ?? made
        }
        node.becomes(.enumeration(values))
        return first
    }

    private static func json(ofRawValueOf value: Any) -> JSON {
        guard let value = value as? any RawRepresentable else { return .absent }
        switch value.rawValue {
        case let text as String: return JSON(text)
        case let number as any FixedWidthInteger: return JSON(integer: number)
        default: return .absent
        }
    }

    private func plainStandIn(for type: any Any.Type, _ node: ShapeNode) -> Any? {
        switch type {
        case is Date.Type:
            node.becomes(dateShape)
            return Date(timeIntervalSince1970: 0)
        case is Data.Type:
            guard let shape = dataShape else { return nil }
            node.becomes(shape)
            return Data()
        case is URL.Type:
            node.becomes(.string)
            return URL(string: "http://localhost/")
        case is UUID.Type:
            node.becomes(
                .pattern("^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"))
            return UUID()
        case is Decimal.Type:
            node.becomes(.double)
            return Decimal(0)
        default:
            return nil
        }
    }

    private var dateShape: JSONShape {
        switch options.dateDecodingStrategy {
        case .deferredToDate, .secondsSince1970, .millisecondsSince1970: .double
        case .iso8601: .string
        default: .any
        }
    }

    private var dataShape: JSONShape? {
        switch options.dataDecodingStrategy {
        case .base64: .string
        case .deferredToData: .array(of: .range(0...255))
        default: .any
        }
    }

    /// The name of a key in the JSON, before the decoder's key conversion.
    func name(of key: any CodingKey, path: [any CodingKey]) throws -> String {
        let name = key.stringValue
        switch options.keyDecodingStrategy {
        case .useDefaultKeys: return name
        case .convertFromSnakeCase:
            let snake = SnakeCase.snakeCase(name)
            if SnakeCase.camelCase(snake) == name { return snake }
            if SnakeCase.camelCase(name) == name { return name }
        default: break
        }
        throw JSONShapeDerivationError(
            path: Self.text(of: path + [key]),
            reason:
                "the key strategy cannot be reversed for this key; declare the shape explicitly."
        )
    }
}

extension JSON {
    fileprivate init(integer: some FixedWidthInteger) { self.init(integer) }
}
