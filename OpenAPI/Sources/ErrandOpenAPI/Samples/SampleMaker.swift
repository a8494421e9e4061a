/// Makes values that schemas accept: from their examples, otherwise from their rules.
///
/// The same schema always gives the same value.
struct SampleMaker {
    let schemas: SchemaReader
    let shapes: ShapeFinder
    let direction: Direction

    init(schemas: SchemaReader, direction: Direction) {
        self.schemas = schemas
        shapes = ShapeFinder(schemas: schemas)
        self.direction = direction
    }

    /// The value of the examples of a media type or a parameter; `nil` if it has none.
    static func example(of node: Node, _ place: Place, _ documents: Documents) -> Node? {
        if let example = node["example"] { return example }
        for (name, _) in node["examples"]?.members ?? [] {
            let place = place.child("examples").child(name)
            if let (example, _) = documents.resolve(place), let value = example["value"] {
                return value
            }
        }
        return nil
    }

    /// A value of a schema.
    func value(of schema: Schema, depth: Int = 0) -> Node {
        if let example = schema.node["example"] ?? schema.node["examples"]?.items?.first {
            return example
        }
        let (found, shape, isNullable) = shapes.resolved(schema)
        if let example = found.node["example"] ?? found.node["examples"]?.items?.first {
            return example
        }
        if let value = found.values.first { return value }
        if let value = found.defaultValue, !value.isNull { return value }
        if depth > 8, isNullable { return node(.null) }
        switch shape {
        case .any, .same: return node(.object(Node.Members()))
        case .builtin(let name): return scalar(name, found)
        case .binary: return node(.string("text"))
        case .enumeration(_, let cases): return cases.first?.value ?? node(.null)
        case .array(let items): return array(items, found, depth)
        case .dictionary(let values):
            var members = Node.Members()
            let count = found.node["minProperties"]?.int ?? 0
            for number in 0..<min(max(count, depth > 6 ? 0 : 1), 16) {
                members.set(
                    values.map { value(of: $0, depth: depth + 1) } ?? node(.string("value")),
                    for: "key\(number + 1)")
            }
            return node(.object(members))
        case .object(let object): return self.object(object, depth)
        case .union(let variants, let discriminator):
            return union(variants, discriminator ?? found.discriminator, depth)
        }
    }

    private func node(_ value: Node.Value) -> Node { Node(value: value, line: 0) }

    private func scalar(_ name: String, _ schema: Schema) -> Node {
        switch name {
        case "String": return node(.string(text(schema)))
        case "Date": return node(.string("2026-01-31T12:00:00Z"))
        case "FullDate": return node(.string("2026-01-31"))
        case "UUID": return node(.string("123e4567-e89b-12d3-a456-426614174000"))
        case "Data": return node(.string("dGV4dA=="))
        case "Bool": return node(.bool(true))
        case "Int", "Int64":
            let value = number(schema).rounded(.up)
            return node(.number(Int(exactly: value).map(String.init) ?? "\(value)"))
        case "Double":
            let value = number(schema)
            return node(
                .number(
                    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"))
        default: return node(.object(Node.Members()))
        }
    }

    private func number(_ schema: Schema) -> Double {
        let node = schema.node
        let isInteger = schema.types.first == "integer"
        let step = isInteger ? 1.0 : 0.5
        func bound(_ keyword: String, _ other: String, _ sign: Double) -> Double? {
            let isExclusive = node[other]?.bool == true
            let own = node[keyword]?.double.map { isExclusive ? $0 + sign * step : $0 }
            let exclusive = node[other]?.double.map { $0 + sign * step }
            return exclusive ?? own
        }
        let lower = bound("minimum", "exclusiveMinimum", 1)
        let upper = bound("maximum", "exclusiveMaximum", -1)
        var value = lower ?? min(1, upper ?? 1)
        if let multiple = node["multipleOf"]?.double, multiple > 0 {
            value = (value / multiple).rounded(.up) * multiple
        }
        return value
    }

    private func text(_ schema: Schema) -> String {
        switch schema.format {
        case "uri", "url": return "https://example.com/"
        case "email": return "name@example.com"
        case "ipv4": return "192.0.2.1"
        case "ipv6": return "2001:db8::1"
        case "hostname": return "example.com"
        case "time": return "12:00:00Z"
        default: break
        }
        if let pattern = schema.node["pattern"]?.string, let text = PatternSample.text(for: pattern)
        {
            return text
        }
        let minimum = min(schema.node["minLength"]?.int ?? 0, 100_000)
        let maximum = schema.node["maxLength"]?.int ?? .max
        var text = "text"
        while text.count < minimum { text += "text" }
        return String(text.prefix(max(min(maximum, max(minimum, 4)), 0)))
    }

    private func array(_ items: Schema?, _ schema: Schema, _ depth: Int) -> Node {
        let minimum = schema.node["minItems"]?.int ?? 0
        let maximum = schema.node["maxItems"]?.int ?? .max
        let count = min(max(minimum, depth > 6 ? 0 : 1), maximum, 100)
        guard let items else {
            return node(.array(Array(repeating: node(.string("item")), count: count)))
        }
        return node(.array((0..<count).map { _ in value(of: items, depth: depth + 1) }))
    }

    private func object(_ object: ObjectShape, _ depth: Int) -> Node {
        var members = Node.Members()
        for (name, schema) in object.properties {
            let (found, _, _) = shapes.resolved(schema)
            if direction == .response, schema.isWriteOnly || found.isWriteOnly { continue }
            if direction == .request, schema.isReadOnly || found.isReadOnly { continue }
            guard object.required.contains(name) || depth < 3 else { continue }
            guard depth < 24 else { continue }
            members.set(value(of: schema, depth: depth + 1), for: name)
        }
        return node(.object(members))
    }

    private func isScalar(_ schema: Schema) -> Bool {
        switch shapes.resolved(schema).shape {
        case .builtin, .binary, .enumeration: true
        case .any, .array, .dictionary, .object, .union, .same: false
        }
    }

    private func union(
        _ variants: [Schema], _ discriminator: Schema.Discriminator?, _ depth: Int
    ) -> Node {
        // In depth, a variant that ends.
        let ends = depth > 6 ? variants.first(where: isScalar) ?? variants.last : nil
        guard let variant = ends ?? variants.first else { return node(.null) }
        let value = value(of: variant, depth: depth + 1)
        guard let discriminator, case .object(var members) = value.value else { return value }
        let name =
            discriminator.mapping.first { $0.target == variant.reference }?.value
            ?? variant.reference?.name
        if let name { members.set(node(.string(name)), for: discriminator.property) }
        return node(.object(members))
    }
}
