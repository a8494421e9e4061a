/// Reads the values of parameters from the text of a request, by the types of their schemas.
struct ParameterReader {
    let shapes: ShapeFinder
    let check: SchemaCheck

    /// Text that is no value of a parameter.
    struct Fault: Error {
        var message: String
    }

    /// The value of a parameter with one or more texts, without escapes.
    func value(
        of texts: [String], _ parameter: Operation.Parameter
    ) throws(Fault) -> Node {
        if parameter.isJSON { return try json(texts[0]) }
        guard let schema = parameter.schema else {
            return Node(value: .string(texts[0]), line: 0)
        }
        let separators = ["spaceDelimited": " ", "pipeDelimited": "|"]
        let separator = separators[parameter.style] ?? ","
        let isOne = !parameter.explodes || parameter.location != .query
        let isObject = isObject(schema)
        return value(schema) { isList in
            guard isList || isObject else { return texts }
            // An empty text is an empty list.
            return isOne ? texts.flatMap { $0.isEmpty ? [] : $0.pieces(at: separator) } : texts
        } pair: {
            parameter.explodes ? "=" : nil
        }
    }

    /// The value of a parameter of the path, with its escapes (RFC 6570 §3.2).
    func value(
        ofPath text: String, _ parameter: Operation.Parameter
    ) throws(Fault) -> Node {
        if parameter.isJSON { return try json(text.percentDecoded) }
        guard let schema = parameter.schema else {
            return Node(value: .string(text.percentDecoded), line: 0)
        }
        var text = text
        var separator = ","
        let isExplodedObject = parameter.explodes && isObject(schema)
        switch parameter.style {
        case "label": if parameter.explodes { separator = "." }
        case "matrix":
            // The first semicolon is part of the template.
            if parameter.explodes { separator = ";" }
            let start = parameter.name.percentEncoded + "="
            if !isExplodedObject {
                guard text.hasPrefix(start) else {
                    throw Fault(message: "the value does not begin with ;\(start)")
                }
                if parameter.explodes { separator += start }
                text.removeFirst(start.count)
            }
        default: break
        }
        let pieces = text.isEmpty ? [] : text.pieces(at: separator)
        return value(schema) { isList in
            isList || isObject(schema) ? pieces.map(\.percentDecoded) : [text.percentDecoded]
        } pair: {
            parameter.explodes ? "=" : nil
        }
    }

    /// The value of an object of the query: members under the name in brackets, or names of their own.
    func object(
        in query: [(name: String, value: String)], _ parameter: Operation.Parameter,
        besides known: Set<String>
    ) -> Node? {
        guard let schema = parameter.schema else { return nil }
        let object = shapes.object(of: schema)
        var value: Node?
        for (name, text) in query {
            var keys = [name]
            if parameter.style == "deepObject" {
                let path = Self.path(of: name)
                guard path.count > 1, path[0] == parameter.name else { continue }
                keys = Array(path.dropFirst())
            } else if !object.properties.contains(where: { $0.name == name }) {
                guard !known.contains(name), case .schema = object.additional else { continue }
            }
            value = adding(text, at: keys[...], to: value, schema)
        }
        return value
    }

    /// The value of a form: fields of an object or a list have brackets, or the name of the list.
    func form(_ fields: [(name: String, value: String)], _ schema: Schema) -> Node {
        let names = Set(shapes.object(of: schema).properties.map(\.name))
        var value: Node?
        for (name, text) in fields {
            let path = Self.path(of: name)
            let keys = !names.contains(name) && names.contains(path[0]) ? path : [name]
            value = adding(text, at: keys[...], to: value, schema)
        }
        return value ?? Node(value: .object(Node.Members()), line: 0)
    }

    /// The names of `a[b][c]`: `a`, `b`, `c`.
    private static func path(of name: String) -> [String] {
        guard name.hasSuffix("]"), let open = name.firstIndex(of: "["), open > name.startIndex
        else { return [name] }
        return [String(name[..<open])]
            + String(name[name.index(after: open)...].dropLast()).pieces(at: "][")
    }

    /// A value with the text at a path in it, which appends to lists.
    private func adding(
        _ text: String, at keys: ArraySlice<String>, to value: Node?, _ schema: Schema?
    ) -> Node {
        let rest = keys.dropFirst()
        if let schema, let item = item(of: schema, isRequired: keys.isEmpty) {
            var items = value?.items ?? []
            let position = keys.first.flatMap { Int($0) } ?? items.count
            if items.indices.contains(position) {
                items[position] = adding(text, at: rest, to: items[position], item)
            } else {
                items.append(adding(text, at: rest, to: nil, item))
            }
            return Node(value: .array(items), line: 0)
        }
        guard let key = keys.first else { return scalar(text, schema) }
        var members = Node.Members()
        if case .object(let known)? = value?.value { members = known }
        let inner = schema.flatMap { self.member(key, of: $0) }
        members.set(adding(text, at: rest, to: members[key], inner), for: key)
        return Node(value: .object(members), line: 0)
    }

    /// The schema of a member of an object, or of the first variant that has it.
    private func member(_ name: String, of schema: Schema) -> Schema? {
        switch shapes.resolved(schema).shape {
        case .object(let object): object.schema(of: name)
        case .dictionary(let values): values
        case .union(let variants, _): variants.lazy.compactMap { member(name, of: $0) }.first
        default: nil
        }
    }

    /// The schema of the items of a list, or of a variant that is one.
    ///
    /// - Parameter isRequired: Whether the text is an item itself, which a union may have as a value too.
    private func item(of schema: Schema, isRequired: Bool) -> Schema? {
        switch shapes.resolved(schema).shape {
        case .array(let item): item ?? Schema(place: schema.place, node: Self.anything)
        case .union(let variants, _) where !isRequired:
            variants.lazy.compactMap { item(of: $0, isRequired: false) }.first
        default: nil
        }
    }

    private static let anything = Node(value: .bool(true), line: 0)

    private func json(_ text: String) throws(Fault) -> Node {
        var reader = JSONText(text)
        do throws(JSONText.Fault) {
            return try reader.read()
        } catch {
            throw Fault(message: "the value is not JSON: \(error.message)")
        }
    }

    // MARK: - Types

    func isObject(_ schema: Schema) -> Bool {
        switch shapes.resolved(schema).shape {
        case .object, .dictionary: true
        default: false
        }
    }

    func isArray(_ schema: Schema) -> Bool {
        if case .array = shapes.resolved(schema).shape { true } else { false }
    }

    private func item(of schema: Schema) -> Schema? {
        if case .array(let item) = shapes.resolved(schema).shape { item } else { nil }
    }

    /// A value of a schema from its pieces, which are other ones for a list or an object than for a single value.
    private func value(
        _ schema: Schema, _ pieces: (Bool) -> [String], pair: () -> String?
    ) -> Node {
        switch shapes.resolved(schema).shape {
        case .array(let item): return list(pieces(true), item)
        case .object, .dictionary: return object(pieces(true), schema, pair())
        case .union(let variants, _):
            let text = scalar(pieces(false).first ?? "", schema)
            guard !check.faults(of: text, schema).isEmpty,
                let variant = variants.first(where: isArray)
            else { return text }
            return list(pieces(true), item(of: variant))
        default: return scalar(pieces(false).first ?? "", schema)
        }
    }

    private func list(_ pieces: [String], _ item: Schema?) -> Node {
        Node(value: .array(pieces.map { scalar($0, item) }), line: 0)
    }

    private func object(_ pieces: [String], _ schema: Schema, _ pair: String?) -> Node {
        let object = shapes.object(of: schema)
        var members = Node.Members()
        func add(_ name: String, _ text: String) {
            members.set(scalar(text, object.schema(of: name)), for: name)
        }
        if let pair {
            for piece in pieces {
                let parts = piece.pieces(at: pair)
                add(parts[0], parts.dropFirst().joined(separator: pair))
            }
        } else {
            for start in stride(from: 0, to: pieces.count, by: 2) {
                add(pieces[start], start + 1 < pieces.count ? pieces[start + 1] : "")
            }
        }
        return Node(value: .object(members), line: 0)
    }

    /// A single value: of the values that the text can mean, the first that the schema accepts.
    func scalar(_ text: String, _ schema: Schema?) -> Node {
        var values: [Node.Value] = []
        let isNumber = Double(text) != nil && !text.contains { "nNxX".contains($0) }
        if isNumber { values.append(.number(text)) }
        if let bool = Bool(text) { values.append(.bool(bool)) }
        if text == "null" { values.append(.null) }
        values.append(.string(text))
        let nodes = values.map { Node(value: $0, line: 0) }
        guard let schema else { return nodes[nodes.count - 1] }
        if let accepted = nodes.first(where: { check.faults(of: $0, schema).isEmpty }) {
            return accepted
        }
        // Of a value that is refused, the type of the schema says what the text means.
        let types = shapes.resolved(schema).schema.types
        let isOfNumber = types.contains("integer") || types.contains("number")
        return isOfNumber && isNumber ? nodes[0] : nodes[nodes.count - 1]
    }
}

extension ObjectShape {
    /// The schema of a member; that of all others for an unknown one.
    func schema(of name: String) -> Schema? {
        if let property = properties.first(where: { $0.name == name }) { return property.schema }
        if case .schema(let schema) = additional { return schema }
        return nil
    }
}

extension String {
    /// The pieces between a separator; one for text without it.
    func pieces(at separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
