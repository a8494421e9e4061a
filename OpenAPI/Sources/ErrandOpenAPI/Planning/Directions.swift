/// The directions in which schemas are used, and whether their types differ by it.
struct Directions {
    private var directional: Set<Place> = []
    private var ofRequests: Set<Place> = []
    private var ofResponses: Set<Place> = []

    /// Follows the schemas of requests and responses.
    init(_ schemas: SchemaReader, named: [Place], requests: [Schema], responses: [Schema]) {
        var walker = Walker(schemas: schemas)
        for schema in requests { walker.walk(schema, &ofRequests) }
        for schema in responses { walker.walk(schema, &ofResponses) }
        var all: Set<Place> = []
        for place in named { walker.walk(schemas.schema(at: place), &all) }
        directional = walker.directional
        // A schema that contains a directional one is directional.
        var users: [Place: [Place]] = [:]
        for (place, targets) in walker.targets {
            for target in targets { users[target, default: []].append(place) }
        }
        var open = Array(directional)
        while let place = open.popLast() {
            for user in users[place] ?? [] where directional.insert(user).inserted {
                open.append(user)
            }
        }
    }

    /// The direction that makes a difference for a schema.
    func effective(_ direction: Direction, at place: Place) -> Direction {
        guard directional.contains(place) else { return .both }
        if ofRequests.contains(place), !ofResponses.contains(place) { return .request }
        return direction == .request ? .request : .response
    }

    /// Whether requests and responses need types of their own.
    func isSplit(_ place: Place) -> Bool {
        directional.contains(place) && ofRequests.contains(place) && ofResponses.contains(place)
    }

    func isOfRequests(_ place: Place, _ direction: Direction) -> Bool {
        direction == .request || (direction == .both && ofRequests.contains(place))
    }

    private struct Walker {
        let schemas: SchemaReader
        var directional: Set<Place> = []
        var targets: [Place: Set<Place>] = [:]

        mutating func walk(_ schema: Schema, _ reached: inout Set<Place>) {
            guard reached.insert(schema.place).inserted else { return }
            var inner = schema.children
            if let target = schemas.target(of: schema) { inner.append(target) }
            if let mapping = schema.discriminator?.mapping {
                inner += mapping.map(\.target).filter { schemas.documents.node(at: $0) != nil }
                    .map(schemas.schema(at:))
            }
            if let mapping = schema.discriminator?.mapping, mapping.isEmpty, schema.variants.isEmpty
            {
                inner += schemas.subtypes(of: schema.place).map(schemas.schema(at:))
            }
            for child in inner {
                targets[schema.place, default: []].insert(child.place)
                if child.isReadOnly || child.isWriteOnly { directional.insert(schema.place) }
                walk(child, &reached)
            }
        }
    }
}
