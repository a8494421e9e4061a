/// The schemas of a document as `JSONShape` reads them: without annotations, and without keywords that it lacks.
struct SchemaText {
    let documents: Documents
    /// The file of the document; other files become `$defs` of it.
    let file: String
    /// The schemas that references lead to and that were not written yet.
    private var pending: [Place] = []
    private var known: Set<Place> = []
    private(set) var definitions = Node.Members()

    init(documents: Documents, file: String) {
        self.documents = documents
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
        "externalDocs", "xml", "$anchor",
    ]
    private static let formats: Set<String> = [
        "date", "date-time", "time", "uuid", "ipv4", "ipv6", "int32", "int64",
    ]

    /// The name of a schema in the text; it is read with all that it refers to.
    mutating func name(of place: Place) -> String {
        if known.insert(place).inserted { pending.append(place) }
        while let next = pending.popLast() {
            guard let node = documents.node(at: next) else { continue }
            definitions.set(schema(node, next), for: Self.key(next, file))
        }
        return Self.key(place, file)
    }

    /// A short name of a place: the pointer without the beginning that most schemas share.
    private static func key(_ place: Place, _ file: String) -> String {
        let prefix = "/components/schemas/"
        let pointer =
            place.pointer.hasPrefix(prefix)
            ? String(place.pointer.dropFirst(prefix.count)) : place.pointer
        return place.file == file ? pointer : "\(place.file)#\(pointer)"
    }

    private static func pointer(_ key: String) -> String {
        let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
        return "#/" + escaped.replacing("%", with: "%25")
    }

    private mutating func reference(to place: Place) -> Node {
        if known.insert(place).inserted { pending.append(place) }
        return Node(value: .string(Self.pointer(Self.key(place, file))), line: 0)
    }

    private mutating func schema(_ node: Node, _ place: Place) -> Node {
        guard let members = node.members else { return node }
        var result = Node.Members()
        for (key, value) in members {
            switch key {
            case "$ref":
                guard let text = value.string else { continue }
                result.set(reference(to: documents.target(of: text, from: place)), for: key)
            case "properties", "patternProperties":
                result.set(schemas(value, place.child(key)), for: key)
            case "items", "additionalProperties", "not":
                result.set(schema(value, place.child(key)), for: key)
            case "allOf", "anyOf", "oneOf", "prefixItems":
                let items = (value.items ?? []).enumerated().map { position, item in
                    schema(item, place.child(key).child(position))
                }
                result.set(Node(value: .array(items), line: 0), for: key)
            case "discriminator": result.set(discriminator(value, place), for: key)
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
            case "required": result.set(required(value, node, place), for: key)
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

    private mutating func schemas(_ node: Node, _ place: Place) -> Node {
        var result = Node.Members()
        for (key, value) in node.members ?? [] {
            result.set(schema(value, place.child(key)), for: key)
        }
        return Node(value: .object(result), line: 0)
    }

    private mutating func discriminator(_ node: Node, _ place: Place) -> Node {
        var result = Node.Members()
        if let name = node["propertyName"] { result.set(name, for: "propertyName") }
        if let mapping = node["mapping"]?.members {
            var targets = Node.Members()
            for (value, target) in mapping {
                guard let text = target.string else { continue }
                let isName = !text.contains("#") && !text.contains("/") && !text.contains(".")
                let full = isName ? "#/components/schemas/\(text)" : text
                targets.set(reference(to: documents.target(of: full, from: place)), for: value)
            }
            result.set(Node(value: .object(targets), line: 0), for: "mapping")
        }
        return Node(value: .object(result), line: 0)
    }

    /// The required members that both requests and responses have.
    private func required(_ value: Node, _ schema: Node, _ place: Place) -> Node {
        let names = (value.items ?? []).filter { name in
            guard let name = name.string,
                let (property, _) = documents.resolve(place.child("properties").child(name))
            else { return true }
            let own = schema["properties"]?[name]
            return ![property, own].contains { node in
                node?["readOnly"]?.bool == true || node?["writeOnly"]?.bool == true
            }
        }
        return Node(value: .array(names), line: 0)
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
