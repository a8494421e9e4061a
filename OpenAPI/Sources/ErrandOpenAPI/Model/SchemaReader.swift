/// Reads schemas, each place once.
final class SchemaReader {
    let documents: Documents
    private var schemas: [Place: Schema] = [:]

    init(_ documents: Documents) { self.documents = documents }

    /// The schema at a place; a schema without rules, and a problem, if there is none.
    func schema(at place: Place) -> Schema {
        if let schema = schemas[place] { return schema }
        let schema: Schema
        if let node = documents.node(at: place) {
            schema = read(node, place)
        } else {
            documents.report(.error, place, "There is no schema here.")
            schema = Schema(place: place, node: Node(value: .bool(true), line: 0))
        }
        schemas[place] = schema
        return schema
    }

    /// The schema that a reference leads to.
    func target(of schema: Schema) -> Schema? { schema.reference.map(self.schema(at:)) }

    /// The named schemas whose `allOf` refers to a schema, also by way of others, in order.
    func subtypes(of place: Place) -> [Place] {
        let direct = directSubtypes(in: place.file)
        var found: Set<Place> = [place]
        var open = [place]
        while let base = open.popLast() {
            for subtype in direct[base] ?? [] where found.insert(subtype).inserted {
                open.append(subtype)
            }
        }
        found.remove(place)
        guard !found.isEmpty else { return [] }
        return named(in: place.file).filter(found.contains)
    }

    private var subtypesOfFiles: [String: [Place: [Place]]] = [:]

    private func named(in file: String) -> [Place] {
        let components = Place(file: file, pointer: "").child("components").child("schemas")
        return (documents.node(at: components)?.members ?? []).map { components.child($0.key) }
    }

    /// The named schemas of a file by those that their `allOf` refers to.
    private func directSubtypes(in file: String) -> [Place: [Place]] {
        if let known = subtypesOfFiles[file] { return known }
        var subtypes: [Place: [Place]] = [:]
        for place in named(in: file) {
            for part in schema(at: place).allOf {
                if let base = part.reference { subtypes[base, default: []].append(place) }
            }
        }
        subtypesOfFiles[file] = subtypes
        return subtypes
    }

    private func read(_ node: Node, _ place: Place) -> Schema {
        let schema = Schema(place: place, node: Self.textual(node))
        guard node.members != nil else {
            if node.bool == nil {
                documents.report(.error, place, "A schema must be an object, not \(node.kind).")
            }
            return schema
        }
        readAnnotations(of: schema)
        if let text = documents.reference(
            of: node, place, key: node["$ref"] == nil ? "$dynamicRef" : "$ref")
        {
            let target = documents.target(of: text, from: place)
            if documents.node(at: target) == nil {
                documents.report(.error, place, "The reference \"\(text)\" leads to nothing.")
            } else {
                schema.reference = target
            }
        }
        readTypes(of: schema)
        readObject(of: schema)
        readItems(of: schema)
        readCombinations(of: schema)
        return schema
    }

    /// A schema of text whose values were written without quotes: `enum: [1.0, 2.0]`.
    static func textual(_ node: Node) -> Node {
        guard node["type"]?.string == "string", case .object(var members) = node.value,
            let values = members["enum"]?.items,
            values.contains(where: { $0.double != nil || $0.bool != nil })
        else { return node }
        let texts = values.map { value in
            value.double == nil && value.bool == nil
                ? value : Node(value: .string(value.json), line: value.line)
        }
        members.set(Node(value: .array(texts), line: node.line), for: "enum")
        return Node(value: .object(members), line: node.line)
    }

    private func readAnnotations(of schema: Schema) {
        let node = schema.node
        schema.title = node["title"]?.string
        schema.text = node["description"]?.string
        schema.isReadOnly = node["readOnly"]?.bool ?? false
        schema.isWriteOnly = node["writeOnly"]?.bool ?? false
        schema.isDeprecated = node["deprecated"]?.bool ?? false
        schema.defaultValue = node["default"]
        schema.format = node["format"]?.string
        if schema.format == nil, let coding = node["contentEncoding"]?.string {
            schema.format = coding == "binary" ? "binary" : coding == "base64" ? "byte" : nil
        } else if schema.format == nil, let type = node["contentMediaType"]?.string,
            !type.hasPrefix("text/"), !type.hasSuffix("json")
        {
            // In 3.1, a file is text with a media type and without an encoding.
            schema.format = "binary"
        }
        for key in ["x-enum-varnames", "x-enumNames", "x-enum-names"] {
            if let names = node[key]?.items { schema.valueNames = names.compactMap(\.string) }
        }
    }

    private static let typeNames: Set<String> = [
        "string", "number", "integer", "boolean", "object", "array",
    ]

    private func readTypes(of schema: Schema) {
        let node = schema.node
        schema.isNullable = node["nullable"]?.bool ?? false
        if let type = node["type"] {
            for name in type.items ?? [type] {
                guard let text = name.string else {
                    // `type: null` without quotes in YAML.
                    if name.isNull { schema.isNullable = true }
                    continue
                }
                if text == "null" {
                    schema.isNullable = true
                } else if Self.typeNames.contains(text) {
                    schema.types.append(text)
                } else {
                    documents.report(.error, schema.place, "The type \"\(text)\" does not exist.")
                }
            }
        }
        var values = documents.list("enum", of: node, schema.place) ?? []
        if let constant = node["const"] { values = [constant] }
        let isNullOnly = !values.isEmpty && values.allSatisfy(\.isNull)
        if values.contains(where: \.isNull) { schema.isNullable = true }
        schema.values = isNullOnly ? [] : values.filter { !$0.isNull }
        // A schema that accepts null only.
        if schema.types.isEmpty, isNullOnly || (schema.isNullable && node["type"] != nil) {
            schema.types = ["null"]
        }
    }

    private func readObject(of schema: Schema) {
        let node = schema.node
        let place = schema.place.child("properties")
        for (name, _) in documents.members("properties", of: node, schema.place) {
            schema.properties.append((name, self.schema(at: place.child(name))))
        }
        if node["required"]?.bool != nil {
            documents.report(
                .note, schema.place.child("required"),
                "`required` is a list of members of the object; a Boolean has no meaning.")
        } else {
            let names = documents.list("required", of: node, schema.place) ?? []
            schema.required = Set(names.compactMap(\.string))
        }
        if let additional = node["additionalProperties"] {
            if let isAllowed = additional.bool {
                schema.additional = isAllowed ? .allowed : .forbidden
            } else {
                schema.additional = .schema(
                    self.schema(at: schema.place.child("additionalProperties")))
                return
            }
        }
        if let patterns = node["patternProperties"]?.members, schema.properties.isEmpty,
            patterns.count == 1
        {
            let place = schema.place.child("patternProperties").child(patterns[0].key)
            schema.additional = .schema(self.schema(at: place))
        }
    }

    private func readItems(of schema: Schema) {
        if schema.node["items"]?.members != nil {
            schema.items = self.schema(at: schema.place.child("items"))
        }
        schema.hasPositions = schema.node["prefixItems"] != nil
    }

    private func readCombinations(of schema: Schema) {
        let node = schema.node
        for position in (documents.list("allOf", of: node, schema.place) ?? []).indices {
            schema.allOf.append(self.schema(at: schema.place.child("allOf").child(position)))
        }
        for keyword in ["oneOf", "anyOf"] {
            guard let items = documents.list(keyword, of: node, schema.place) else { continue }
            for position in items.indices {
                let variant = self.schema(at: schema.place.child(keyword).child(position))
                if variant.types == ["null"] {
                    schema.isNullable = true
                } else {
                    schema.variants.append(variant)
                }
            }
        }
        if let property = node["discriminator"]?["propertyName"]?.string {
            let mapping = (node["discriminator"]?["mapping"]?.members ?? []).compactMap { member in
                member.value.string.map { text in
                    (member.key, documents.target(ofMapping: text, from: schema.place))
                }
            }
            schema.discriminator = .init(property: property, mapping: mapping)
        }
    }
}
