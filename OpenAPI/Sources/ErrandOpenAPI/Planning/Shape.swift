/// What values of a schema are, for a type.
enum Shape {
    case any
    case builtin(String)
    case binary
    case enumeration(isInteger: Bool, [EnumerationCase])
    case array(Schema?)
    case dictionary(Schema?)
    case object(ObjectShape)
    case union([Schema], Schema.Discriminator?)
    /// The same as another schema.
    case same(Schema)
}

struct EnumerationCase {
    var value: Node
    var name: String?
    var text: String?
}

/// The members of an object, of all schemas that it is composed of.
struct ObjectShape {
    var properties: [(name: String, schema: Schema)] = []
    var required: Set<String> = []
    var additional = Schema.Additional.unspecified

    /// Adds a property; of two with a name, the one that says more wins.
    mutating func add(_ name: String, _ schema: Schema) {
        guard let position = properties.firstIndex(where: { $0.name == name }) else {
            properties.append((name, schema))
            return
        }
        let known = properties[position].schema
        if schema.isUnstructured { return }
        if known.values.count == 1, schema.values.count != 1 { return }
        properties[position].schema = schema
    }
}
