/// The schemas of a document as `JSONShape` reads them: without annotations, and without keywords that it lacks.
///
/// A schema that differs between requests and responses has two forms, as its types do.
struct SchemaText {
    let types: TypePlanner
    /// The file of the document; the names of schemas of other files begin with theirs.
    let file: String
    /// The schemas that references lead to and that were not written yet.
    private var pending: [TypeKey] = []
    private var known: Set<TypeKey> = []
    private(set) var definitions = Node.Members()

    private var documents: Documents { types.schemas.documents }

    init(types: TypePlanner, file: String) {
        self.types = types
        self.file = file
    }

    private static let checks: Set<String> = [
        "type", "enum", "const", "nullable", "required", "minItems", "maxItems", "minimum",
        "maximum",
        "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "multipleOf",
        "uniqueItems",
        "minProperties", "maxProperties", "format",
    ]
    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default",
        "example",
        "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
        "externalDocs", "xml", "$anchor", "$dynamicAnchor",
    ]
    private static let formats: Set<String> = [
        "date", "date-time", "time", "uuid", "ipv4", "ipv6", "int32", "int64",
    ]

    /// Names for schemas of operations, whose pointers are long.
    private var names: [Place: String] = [:]

    /// Adds a schema with all that it refers to, and returns its pointer without `#/`.
    ///
    /// - Parameter name: The name of a schema that is none of the components.
    mutating func add(_ place: Place, _ direction: Direction, name: String) -> String {
        let keys = place.keys
        let target = target(place, direction)
        if !known.contains(target), keys.prefix(2) != ["components", "schemas"] {
            // A response of the components may belong to several operations.
            names[place] =
                keys.first == "components" && keys.count > 2 ? "\(keys[1]).\(keys[2])" : name
        }
        if known.insert(target).inserted { pending.append(target) }
        while let next = pending.popLast() {
            guard let node = documents.node(at: next.place) else { continue }
            definitions.set(schema(node, next.place, next.direction), for: key(next))
        }
        return String(pointer(to: target).dropFirst(2))
    }

    private func target(_ place: Place, _ direction: Direction) -> TypeKey {
        TypeKey(place: place, direction: types.directions.effective(direction, at: place))
    }

    /// A short name of a place: the pointer without the beginning that most schemas share.
    private func key(_ target: TypeKey) -> String {
        let isSecond = target.direction == .request && types.directions.isSplit(target.place)
        return name(of: target.place) + (isSecond ? ".request" : "")
    }

    private func name(of place: Place) -> String {
        if let name = names[place] { return name }
        let prefix = "/components/schemas/"
        let pointer =
            place.pointer.hasPrefix(prefix)
            ? String(place.pointer.dropFirst(prefix.count)) : place.pointer
        return place.file == file ? pointer : "\(place.file)#\(pointer)"
    }

    private func pointer(to target: TypeKey) -> String {
        let escaped = key(target).replacing("~", with: "~0").replacing("/", with: "~1")
        return "#/" + escaped.replacing("%", with: "%25")
    }

    private mutating func reference(to place: Place, _ direction: Direction) -> Node {
        let target = target(place, direction)
        if known.insert(target).inserted { pending.append(target) }
        return Node(value: .string(pointer(to: target)), line: 0)
    }

    /// A schema.
    ///
    /// - Parameter hidden: The members that the direction does not have, of the schema around a part of `allOf`.
    private mutating func schema(
        _ node: Node, _ place: Place, _ direction: Direction, hidden: Set<String> = []
    ) -> Node {
        guard let members = SchemaReader.textual(node).members else { return node }
        let hidden = hidden.union(hiddenMembers(of: place, node, direction))
        var result = Node.Members()
        for (key, value) in members {
            switch key {
            case "$ref", "$dynamicRef":
                guard let text = value.string else { continue }
                let target = documents.target(of: text, from: place)
                result.set(reference(to: target, direction), for: "$ref")
            case "properties", "patternProperties":
                result.set(schemas(value, place.child(key), direction), for: key)
            case "items", "additionalProperties", "not":
                result.set(schema(value, place.child(key), direction), for: key)
            case "allOf", "anyOf", "oneOf", "prefixItems":
                let isOfItem = key == "prefixItems"
                let items = (value.items ?? []).enumerated().map { position, item in
                    schema(
                        item, place.child(key).child(position), direction,
                        hidden: isOfItem ? [] : hidden)
                }
                result.set(Node(value: .array(items), line: 0), for: key)
            case "enum" where value.items?.isEmpty ?? false: continue
            case "discriminator" where !namesSchemas(value, place): continue
            case "discriminator": result.set(discriminator(value, place, direction), for: key)
            case "pattern":
                guard let text = value.string, (try? Regex(text)) != nil else {
                    documents.report(
                        .note, place.child(key),
                        "The pattern is no regular expression of Swift; it is not checked.")
                    continue
                }
                result.set(value, for: key)
            case "format":
                if let format = value.string, Self.formats.contains(format) {
                    result.set(value, for: key)
                }
            case "required":
                // JSON Schema has each name once.
                var seen = hidden
                let names = (value.items ?? []).filter { seen.insert($0.string ?? "").inserted }
                result.set(Node(value: .array(names), line: 0), for: key)
            default:
                if Self.checks.contains(key) {
                    result.set(value, for: key)
                } else if !Self.annotations.contains(key), !key.hasPrefix("x-") {
                    documents.report(.note, place.child(key), "The keyword \(key) is not checked.")
                }
            }
        }
        return Node(value: .object(result), line: 0)
    }

    private mutating func schemas(_ node: Node, _ place: Place, _ direction: Direction) -> Node {
        var result = Node.Members()
        for (key, value) in node.members ?? [] {
            result.set(schema(value, place.child(key), direction), for: key)
        }
        return Node(value: .object(result), line: 0)
    }

    /// Whether the values of a discriminator are those of its mapping or the names of schemas, and not those that the
    /// variants state.
    private func namesSchemas(_ node: Node, _ place: Place) -> Bool {
        guard node["mapping"] == nil, let key = node["propertyName"]?.string else { return true }
        return !types.schemas.schema(at: place).variants.contains { variant in
            types.shapes.object(of: variant).properties.contains { name, schema in
                name == key && !types.shapes.resolved(schema).schema.values.isEmpty
            }
        }
    }

    private mutating func discriminator(
        _ node: Node, _ place: Place, _ direction: Direction
    ) -> Node {
        var result = Node.Members()
        if let name = node["propertyName"] { result.set(name, for: "propertyName") }
        if let mapping = node["mapping"]?.members {
            var targets = Node.Members()
            for (value, target) in mapping {
                guard let text = target.string else { continue }
                let target = documents.target(ofMapping: text, from: place)
                targets.set(reference(to: target, direction), for: value)
            }
            result.set(Node(value: .object(targets), line: 0), for: "mapping")
        }
        return Node(value: .object(result), line: 0)
    }

    /// The members of a schema that the direction does not have, and thus cannot require.
    private func hiddenMembers(
        of place: Place, _ node: Node, _ direction: Direction
    ) -> Set<String> {
        guard direction != .both, node["properties"] != nil || node["allOf"] != nil else {
            return []
        }
        let object = types.shapes.object(of: types.schemas.schema(at: place))
        let hidden = object.properties.filter { _, schema in
            let target = types.schemas.target(of: schema)
            return direction == .request
                ? schema.isReadOnly || target?.isReadOnly ?? false
                : schema.isWriteOnly || target?.isWriteOnly ?? false
        }
        return Set(hidden.map(\.name))
    }

    /// The text of all schemas, one on each line.
    var lines: [String] {
        definitions.list.enumerated().map { position, member in
            let key = Node(value: .string(member.key), line: 0).json
            let comma = position + 1 < definitions.list.count ? "," : ""
            return "\(key): \(member.value.json)\(comma)"
        }
    }
}
