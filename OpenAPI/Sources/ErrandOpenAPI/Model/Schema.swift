/// A schema of OpenAPI 3.0 or 3.1 in one form.
///
/// A class, because it is the identity of a type that is generated.
final class Schema {
    /// What an object may have beside its properties.
    enum Additional {
        case unspecified, allowed, forbidden
        case schema(Schema)
    }

    /// How a value names its variant.
    struct Discriminator {
        var property: String
        /// The variants by the value of the property.
        var mapping: [(value: String, target: Place)]
    }

    let place: Place
    let node: Node
    /// The schema that it refers to.
    var reference: Place?
    /// The types without null; empty if it names none.
    var types: [String] = []
    var isNullable = false
    /// The values of `enum`, or the one of `const`, without null.
    var values: [Node] = []
    var format: String?
    var properties: [(name: String, schema: Schema)] = []
    var required: Set<String> = []
    var additional = Additional.unspecified
    var items: Schema?
    var hasPositions = false
    var allOf: [Schema] = []
    /// The schemas of `oneOf` or `anyOf`, without those that accept null only.
    var variants: [Schema] = []
    var discriminator: Discriminator?
    var defaultValue: Node?
    var isReadOnly = false
    var isWriteOnly = false
    var isDeprecated = false
    var title: String?
    var text: String?
    /// The names of the values of `enum`, from extensions of common tools.
    var valueNames: [String] = []

    init(place: Place, node: Node) {
        self.place = place
        self.node = node
    }

    /// The description, or the title unless it says the same as a name.
    func documentation(of name: String) -> String? {
        text ?? title.flatMap { SwiftName.type(name).hasSuffix(SwiftName.type($0)) ? nil : $0 }
    }

    /// Whether the schema says nothing about the structure of values.
    var isUnstructured: Bool {
        reference == nil && types.isEmpty && values.isEmpty && properties.isEmpty && items == nil
            && allOf.isEmpty && variants.isEmpty && isAdditionalUnspecified && format == nil
    }

    var isAdditionalUnspecified: Bool {
        if case .unspecified = additional { true } else { false }
    }

    /// The schemas inside, without those that references lead to.
    var children: [Schema] {
        var list = properties.map(\.schema) + allOf + variants
        if let items { list.append(items) }
        if case .schema(let schema) = additional { list.append(schema) }
        return list
    }
}
