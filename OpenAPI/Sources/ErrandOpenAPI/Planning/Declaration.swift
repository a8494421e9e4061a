/// A type that is generated.
final class Declaration {
    let key: TypeKey
    let name: String
    /// The type that contains it; `nil` at the top level.
    let owner: Owner?
    var text: String?
    var body: Body
    /// Whether it is made for requests.
    var isOfRequests = false

    enum Body {
        case structure(Structure)
        case enumeration(Enumeration)
        case union(Union)
    }

    struct Structure {
        var properties: [Property] = []
        /// The type of the members that have no property; `nil` if they are ignored.
        var additional: SwiftType?
    }

    struct Property {
        /// The name in JSON.
        var key: String
        var name: String
        var type: SwiftType
        var isOptional: Bool
        /// Whether nil is written as null.
        var writesNull = false
        var isIndirect = false
        /// The default value in Swift.
        var value: String?
        var text: String?
        var isDeprecated = false
    }

    struct Enumeration {
        var isInteger: Bool
        var cases: [(name: String, value: Node, text: String?)]
    }

    struct Union {
        /// The property that names the variant; `nil` if variants are tried in order.
        var discriminator: (key: String, name: String, isInteger: Bool)?
        var isIndirect = false
        var cases: [Case]

        struct Case {
            var name: String
            var type: SwiftType
            /// The values of the discriminator.
            var values: [Node]
            var text: String?
        }
    }

    init(key: TypeKey, name: String, owner: Owner?) {
        self.key = key
        self.name = name
        self.owner = owner
        body = .structure(Structure())
    }

    var fullName: String { owner.map { "\($0.name).\(name)" } ?? name }
}

/// A type at the top level that contains others: a schema's, or an endpoint.
final class Owner {
    let name: String
    var names: NameScope
    /// Whether it is an endpoint, whose nested type may be its `Output`.
    let isEndpoint: Bool
    var nested: [Declaration] = []

    init(name: String, names: NameScope, isEndpoint: Bool = false) {
        self.name = name
        self.names = names
        self.isEndpoint = isEndpoint
    }
}
