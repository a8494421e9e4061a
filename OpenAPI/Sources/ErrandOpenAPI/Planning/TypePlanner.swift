/// Plans the types of schemas: each once for each direction in which it differs.
final class TypePlanner {
    /// A type as it is used at one place.
    struct Use {
        var type: SwiftType
        var isNullable: Bool
        /// The only value that is accepted.
        var constant: Node?
    }

    /// The place of a use: where inline types are declared, and by which name.
    struct Context {
        /// The type that gets inline types; `nil` for the top level.
        var owner: Owner?
        /// The name of an inline type.
        var name: String
        /// The name of the type around it, which precedes a name that is taken.
        var parent: String
        var direction: Direction
        /// Whether it is a parameter or a field of a form, whose lists have no null.
        var isArgument = false
        /// Whether it is the JSON of the only response, whose inline type is the `Output` of the endpoint.
        var isOutput = false

        func named(_ name: String, in parent: String) -> Context {
            var context = self
            (context.name, context.parent, context.isOutput) = (name, parent, false)
            return context
        }
    }

    let schemas: SchemaReader
    let shapes: ShapeFinder
    let directions: Directions
    let service: String
    private var topNames: NameScope
    private(set) var declarations: [TypeKey: Declaration] = [:]
    /// The declarations at the top level, in the order of the first use.
    private(set) var top: [Declaration] = []
    /// The types that contain others, by the schema of the top level.
    private var owners: [TypeKey: Owner] = [:]
    private(set) var usesFullDate = false
    private let overrides: [String: String]

    init(
        schemas: SchemaReader, directions: Directions, service: String, names: Set<String>,
        overrides: [String: String]
    ) {
        self.schemas = schemas
        shapes = ShapeFinder(schemas: schemas)
        self.directions = directions
        self.service = service
        self.overrides = overrides
        topNames = NameScope(SwiftName.reservedTypes.union(names))
    }

    func owner(of declaration: Declaration) -> Owner? { owners[declaration.key] }

    // MARK: - Names

    /// Takes the names of all named schemas, in order, so that no use of them decides.
    func reserve(_ places: [Place]) {
        for place in places {
            guard let target = aliased(place) else {
                _ = declaration(named: place, .response, plansBody: false)
                continue
            }
            // A component that is a file of its own has the name of the component.
            if !places.contains(target), componentNames[target] == nil {
                componentNames[target] = place.name
                _ = declaration(named: target, .response, plansBody: false)
            }
        }
    }

    /// The names of components for the places that they refer to.
    private var componentNames: [Place: String] = [:]

    /// The place that a component consists of, if it is a reference alone.
    private func aliased(_ place: Place) -> Place? {
        var seen: Set<Place> = [place]
        var target: Place?
        while let next = schemas.schema(at: target ?? place).reference,
            seen.insert(next).inserted
        {
            target = next
        }
        return target
    }

    /// A name at the top level; names that Swift or Errand use get the name of the service.
    func topName(_ name: String) -> String { topNames.take(name, service + name) }

    /// The name of an endpoint.
    func endpointName(_ name: String) -> String {
        topNames.take(
            name, name.hasSuffix("Request") ? name + "Endpoint" : name + "Request",
            name + "Endpoint")
    }

    /// A name in a type that is no name at the top level.
    private func nestedName(
        _ name: String, _ parent: String, in owner: Owner, isOutput: Bool
    ) -> String {
        if isOutput, !owner.nested.contains(where: { $0.name == name }) { return name }
        // A type in another one cannot be named `Type`, and one without a capital has the name of its member.
        let hasCapital = name.first?.isUppercase ?? false
        let first = name == "Type" ? "Kind" : hasCapital ? name : owner.name + name
        // The name of a parent that makes the name too long for a line says nothing.
        let long = parent + name
        for candidate in [first, long.count > 60 ? name + "Object" : long, owner.name + name]
        where isFree(candidate, in: owner) {
            return owner.names.take(candidate)
        }
        var number = 2
        while !isFree("\(name)\(number)", in: owner) { number += 1 }
        return owner.names.take("\(name)\(number)")
    }

    private func isFree(_ name: String, in owner: Owner) -> Bool {
        !owner.names.taken.contains(name) && !topNames.taken.contains(name)
    }

    // MARK: - Types

    /// The type of a schema where it is used.
    func use(of schema: Schema, _ context: Context) -> Use {
        if let place = schema.reference { return use(named: place, schema, context) }
        let (found, shape, isNullable) = shapes.resolved(schema)
        if found.place != schema.place, let name = namedPlace(of: schema, found) {
            var use = use(named: name, schema, context)
            use.isNullable = use.isNullable || isNullable
            return use
        }
        return use(of: found, shape, isNullable, context)
    }

    /// The last named schema on the way from a schema to the one that decides.
    private func namedPlace(of schema: Schema, _ found: Schema) -> Place? {
        var schema = schema
        var named: Place?
        var seen: Set<Place> = []
        while schema.place != found.place, seen.insert(schema.place).inserted,
            case .same(let other) = shapes.shape(of: schema)
        {
            named = schema.reference ?? named
            schema = other
        }
        return named
    }

    private func use(named place: Place, _ schema: Schema, _ context: Context) -> Use {
        let target = schemas.schema(at: place)
        let (found, shape, isNullable) = shapes.resolved(target)
        let accepts = isNullable || schema.isNullable
        switch shape {
        case .object, .union, .enumeration:
            // An alias of a named schema is that schema.
            let named = found.place == target.place ? place : namedPlace(of: target, found) ?? place
            let declaration = declaration(named: named, context.direction, plansBody: true)
            var constant: Node?
            if case .enumeration(_, let cases) = shape, cases.count == 1 {
                constant = cases[0].value
            }
            return Use(type: .declared(declaration.key), isNullable: accepts, constant: constant)
        default:
            var inner = context
            inner.owner = nil
            inner.name = SwiftName.type(place.name)
            inner.parent = service
            return use(of: found, shape, accepts, inner)
        }
    }

    private func use(
        of schema: Schema, _ shape: Shape, _ isNullable: Bool, _ context: Context
    ) -> Use {
        func plain(_ type: SwiftType) -> Use { Use(type: type, isNullable: isNullable) }
        switch shape {
        case .any, .same: return plain(.builtin("JSON"))
        case .builtin(let name):
            if name == "FullDate" { usesFullDate = true }
            return plain(.builtin(name))
        case .binary: return plain(.binary)
        case .array(let items):
            let inner = context.named(SwiftName.singular(context.name), in: context.parent)
            guard let items, let element = element(items, inner) else {
                return plain(.array(.builtin("JSON")))
            }
            return plain(.array(element))
        case .dictionary(let values):
            let inner = context.named(SwiftName.singular(context.name), in: context.parent)
            guard let values, let element = element(values, inner) else {
                return plain(.dictionary(.builtin("JSON")))
            }
            return plain(.dictionary(element))
        case .enumeration(let isInteger, let cases) where cases.count == 1:
            return Use(
                type: .builtin(isInteger ? "Int" : "String"), isNullable: isNullable,
                constant: cases[0].value)
        case .enumeration, .object, .union:
            return plain(.declared(declareInline(schema, shape, context).key))
        }
    }

    /// The type of items.
    private func element(_ schema: Schema, _ context: Context) -> SwiftType? {
        guard !isOpen(schema.place) else { return nil }
        opened.insert(schema.place)
        defer { opened.remove(schema.place) }
        let use = use(of: schema, context)
        let isOptional = use.isNullable && !context.isArgument && use.type != .builtin("JSON")
        return isOptional ? .optional(use.type) : use.type
    }

    /// The items whose types are being found, to end lists of themselves.
    private var opened: Set<Place> = []
    private func isOpen(_ place: Place) -> Bool { opened.contains(place) }

    // MARK: - Declarations

    private func declaration(
        named place: Place, _ direction: Direction, plansBody: Bool
    ) -> Declaration {
        let direction = directions.effective(direction, at: place)
        let key = TypeKey(place: place, direction: direction)
        if let known = declarations[key] {
            if plansBody { planBody(of: known) }
            return known
        }
        let given = componentNames[place] ?? place.name
        let base = overrides[given] ?? SwiftName.type(given)
        let isSecond = direction == .request && directions.isSplit(place)
        let name = topName(isSecond ? base + "Input" : base)
        let declaration = Declaration(key: key, name: name, owner: nil)
        declarations[key] = declaration
        owners[key] = Owner(
            name: name, names: NameScope(SwiftName.reservedTypes.union([name])))
        if plansBody { planBody(of: declaration) }
        return declaration
    }

    private var planned: Set<TypeKey> = []

    private func planBody(of declaration: Declaration) {
        guard planned.insert(declaration.key).inserted else { return }
        top.append(declaration)
        let schema = schemas.schema(at: declaration.key.place)
        let (found, shape, _) = shapes.resolved(schema)
        fill(
            declaration, found, shape, owner: owners[declaration.key],
            direction: declaration.key.direction)
        if declaration.text == nil {
            declaration.text = schema.documentation(of: declaration.name)
        }
    }

    /// Plans a named schema that no operation may use.
    func plan(_ place: Place) {
        let (_, shape, _) = shapes.resolved(schemas.schema(at: place))
        switch shape {
        case .object, .union, .enumeration:
            let target = Schema(
                place: place.child("+use"), node: Node(value: .bool(true), line: 0))
            target.reference = place
            let context = Context(owner: nil, name: "", parent: service, direction: .response)
            _ = use(of: target, context)
        default: return
        }
    }

    private func declareInline(
        _ schema: Schema, _ shape: Shape, _ context: Context
    ) -> Declaration {
        // A schema inside a named one belongs to its type, also if another type has its members.
        let home = home(of: schema.place, context.direction)
        let direction = home?.direction ?? context.direction
        let container = home?.owner ?? context.owner
        let key = TypeKey(place: schema.place, direction: direction)
        if let known = declarations[key] { return known }
        let parent =
            container === context.owner ? context.parent : container?.name ?? context.parent
        let name =
            container.map {
                nestedName(
                    context.name, parent, in: $0, isOutput: context.isOutput && $0.isEndpoint)
            } ?? topName(context.name)
        let declaration = Declaration(key: key, name: name, owner: container)
        declarations[key] = declaration
        planned.insert(key)
        let owner =
            container
            ?? Owner(name: name, names: NameScope(SwiftName.reservedTypes.union([name])))
        if container == nil {
            owners[key] = owner
            top.append(declaration)
        } else {
            owner.nested.append(declaration)
        }
        fill(declaration, schema, shape, owner: owner, direction: direction)
        return declaration
    }

    /// The type of the named schema around a place; `nil` if it has none, or none that contains types.
    private func home(of place: Place, _ direction: Direction) -> (
        owner: Owner, direction: Direction
    )? {
        let prefix = "/components/schemas/"
        guard place.pointer.hasPrefix(prefix), let name = place.keys.dropFirst(2).first else {
            return nil
        }
        let named = Place(file: place.file, pointer: "").child("components").child("schemas")
            .child(name)
        guard named != place else { return nil }
        switch shapes.resolved(schemas.schema(at: named)).shape {
        case .object, .union:
            let declaration = declaration(named: named, direction, plansBody: true)
            return owners[declaration.key].map { ($0, declaration.key.direction) }
        default: return nil
        }
    }

    private func fill(
        _ declaration: Declaration, _ schema: Schema, _ shape: Shape, owner: Owner?,
        direction: Direction
    ) {
        declaration.text = schema.documentation(of: declaration.name)
        if schema.isDeprecated {
            declaration.text = Self.adding("Deprecated.", to: declaration.text)
        }
        declaration.isOfRequests = directions.isOfRequests(declaration.key.place, direction)
        let context = Context(
            owner: owner, name: declaration.name, parent: declaration.name, direction: direction)
        switch shape {
        case .object(let object):
            declaration.body = .structure(structure(object, schema, declaration, context))
        case .enumeration(let isInteger, let cases):
            declaration.body = .enumeration(enumeration(isInteger, cases))
        case .union(let variants, let discriminator):
            declaration.body = .union(union(variants, discriminator, declaration, context))
        default: return
        }
    }

    private func enumeration(
        _ isInteger: Bool, _ cases: [EnumerationCase]
    ) -> Declaration.Enumeration {
        var names = NameScope(["rawValue", "self", "init", "Self", "Type", "Protocol", "hashValue"])
        return Declaration.Enumeration(
            isInteger: isInteger,
            cases: cases.map { item in
                let text = item.name ?? item.value.string ?? item.value.json
                let name = SwiftName.member(text)
                return (names.take(name, name + "Value"), item.value, item.text)
            })
    }

    private func structure(
        _ object: ObjectShape, _ schema: Schema, _ declaration: Declaration, _ context: Context
    ) -> Declaration.Structure {
        var structure = Declaration.Structure()
        var names = NameScope(SwiftName.modelMembers)
        if case .schema = object.additional { _ = names.take("additionalProperties") }
        if case .allowed = object.additional { _ = names.take("additionalProperties") }
        for (key, member) in object.properties {
            let (found, _, _) = shapes.resolved(member)
            let isReadOnly = member.isReadOnly || found.isReadOnly
            let isWriteOnly = member.isWriteOnly || found.isWriteOnly
            if isReadOnly, context.direction == .request { continue }
            if isWriteOnly, context.direction == .response { continue }
            let use = use(
                of: member, context.named(SwiftName.type(key), in: declaration.name))
            let isRequired = object.required.contains(key)
            let base = SwiftName.member(key)
            var property = Declaration.Property(
                key: key, name: names.take(base, base + "Value"), type: use.type,
                isOptional: !isRequired || use.isNullable)
            property.writesNull = isRequired && use.isNullable
            property.text = member.documentation(of: key)
            property.isDeprecated = member.isDeprecated
            if case .builtin = use.type, let value = use.constant ?? member.defaultValue {
                let literal = Self.literal(value, use.type)
                let isConstant = use.constant != nil
                // A member that may be missing has the value of its constant only if that is the default, too.
                if !property.isOptional || isConstant && member.defaultValue?.json == value.json {
                    property.value = literal
                } else if isConstant, let literal {
                    property.text = Self.adding("Always `\(literal)`.", to: property.text)
                }
            } else if let constant = use.constant, !property.isOptional,
                case .declared(let key) = use.type,
                case .enumeration(let cases)? = declarations[key]?.body,
                let only = cases.cases.first(where: { $0.value.json == constant.json })
            {
                property.value = "." + only.name
            }
            if let value = member.defaultValue, property.value == nil, !value.isNull {
                property.text = Self.adding("Default: `\(value.json)`.", to: property.text)
            }
            structure.properties.append(property)
        }
        switch object.additional {
        case .unspecified:
            // Optional, because a name without a schema may be one that the service no longer has.
            for key in object.required.sorted()
            where !object.properties.contains(where: { $0.name == key }) {
                let base = SwiftName.member(key)
                var property = Declaration.Property(
                    key: key, name: names.take(base, base + "Value"), type: .builtin("JSON"),
                    isOptional: true)
                property.text = "Required, though the document does not say what it is."
                structure.properties.append(property)
            }
        case .forbidden: break
        case .allowed: structure.additional = .builtin("JSON")
        case .schema(let values):
            structure.additional =
                element(values, context.named("AdditionalValue", in: declaration.name))
                ?? .builtin("JSON")
        }
        return structure
    }

    private static func adding(_ sentence: String, to text: String?) -> String {
        guard let text, !text.isEmpty else { return sentence }
        return text + "\n\n" + sentence
    }

    /// The value as a literal of a type; `nil` if it has none.
    static func literal(_ value: Node, _ type: SwiftType) -> String? {
        guard case .builtin(let name) = type else { return nil }
        switch name {
        case "String": return value.string.map { Text.literal($0) }
        case "Int", "Int64": return value.int.map(String.init)
        case "Double": return value.double.map { "\($0)" }
        case "Bool": return value.bool.map { "\($0)" }
        default: return nil
        }
    }

    // MARK: - Unions

    private func union(
        _ variants: [Schema], _ discriminator: Schema.Discriminator?, _ declaration: Declaration,
        _ context: Context
    ) -> Declaration.Union {
        var union = Declaration.Union(cases: [])
        let key = discriminator?.property ?? inferredDiscriminator(of: variants)
        var names = NameScope(["other", "self", "init", "Self", "Type", "Protocol", "some", "none"])
        var types: [SwiftType] = []
        let objects = variants.count { variant in
            guard case .object = shapes.resolved(variant).shape else { return false }
            return true
        }
        for (position, variant) in variants.enumerated() {
            var values = key.map { self.values(of: variant, $0, discriminator) } ?? []
            let (_, shape, _) = shapes.resolved(variant)
            let title =
                variant.reference.map { SwiftName.type($0.name) } ?? Self.shortTitle(variant.title)
            let value = values.first.flatMap(\.string).map(SwiftName.type)
            let kind = Self.kindName(shape) ?? Self.memberName(shape)
            let other = objects == 1 ? "Object" : "Variant\(position + 1)"
            let hint = title ?? value ?? kind ?? other
            let use = use(of: variant, context.named(hint, in: declaration.name))
            // The case of other values has them already.
            if use.type == .builtin("JSON") { continue }
            values = values.filter { value in
                !union.cases.contains { $0.values.contains { $0.json == value.json } }
            }
            if types.contains(use.type) {
                guard key != nil, let same = types.firstIndex(of: use.type) else { continue }
                union.cases[same].values += values
                continue
            }
            types.append(use.type)
            let name = SwiftName.member(hint)
            union.cases.append(
                .init(
                    name: names.take(name, name + "Value"), type: use.type, values: values,
                    text: variant.reference == nil
                        ? variant.documentation(of: hint) : nil))
        }
        let values = union.cases.flatMap(\.values)
        let isInteger = values.allSatisfy { $0.int != nil }
        // Values of several kinds are not read with one type.
        if let key, union.cases.allSatisfy({ !$0.values.isEmpty }), !union.cases.isEmpty,
            isInteger || values.allSatisfy({ $0.string != nil })
        {
            union.discriminator = (key, SwiftName.member(key), isInteger)
        } else {
            union.cases = ranked(union.cases)
        }
        return union
    }

    private static func shortTitle(_ title: String?) -> String? {
        guard let title, title.count <= 40, title.contains(where: \.isLetter) else { return nil }
        return SwiftName.type(title)
    }

    /// The name of the only member that an object requires.
    private static func memberName(_ shape: Shape) -> String? {
        guard case .object(let object) = shape, object.required.count == 1 else { return nil }
        return object.required.first.map(SwiftName.type)
    }

    private static func kindName(_ shape: Shape) -> String? {
        switch shape {
        case .any, .object, .union, .same: nil
        case .builtin("FullDate"): "Date"
        case .builtin("JSON"): nil
        case .builtin(let name): name == "Int64" ? "Int" : name
        case .binary: "Binary"
        case .enumeration: "Value"
        case .array: "List"
        case .dictionary: "Dictionary"
        }
    }

    /// The values of a discriminator that lead to a variant.
    private func values(
        of variant: Schema, _ key: String, _ discriminator: Schema.Discriminator?
    ) -> [Node] {
        let (found, shape, _) = shapes.resolved(variant)
        if let mapping = discriminator?.mapping {
            let mapped = mapping.filter { entry in
                entry.target == variant.reference || entry.target == found.place
                    || variant.allOf.contains { $0.reference == entry.target }
            }
            if !mapped.isEmpty {
                return mapped.map { Node(value: .string($0.value), line: 0) }
            }
        }
        if case .object(let object) = shape,
            let property = object.properties.first(where: { $0.name == key })
        {
            let (_, shape, _) = shapes.resolved(property.schema)
            if case .enumeration(_, let cases) = shape {
                // A member that is inherited may have the values of all variants.
                let own = cases.map(\.value).filter {
                    $0.string?.lowercased() == variant.reference?.name.lowercased()
                }
                let isInherited = discriminator?.mapping.isEmpty ?? false && cases.count > 1
                return isInherited && !own.isEmpty ? own : cases.map(\.value)
            }
        }
        // Without a mapping, the name of the schema is the value.
        if discriminator != nil, let place = variant.reference {
            return [Node(value: .string(place.name), line: 0)]
        }
        return []
    }

    /// A required property with different single values in all variants.
    private func inferredDiscriminator(of variants: [Schema]) -> String? {
        guard variants.count > 1 else { return nil }
        var candidates: [String]?
        var found: [String: Set<String>] = [:]
        for variant in variants {
            guard case .object(let object) = shapes.resolved(variant).shape else { return nil }
            var keys: [String] = []
            for (name, schema) in object.properties where object.required.contains(name) {
                guard case .enumeration(let isInteger, let cases) = shapes.resolved(schema).shape,
                    !cases.isEmpty
                else { continue }
                let values = cases.map { "\(isInteger)" + $0.value.json }
                guard values.allSatisfy({ found[name]?.contains($0) != true }) else { continue }
                found[name, default: []].formUnion(values)
                keys.append(name)
            }
            candidates = candidates.map { $0.filter(keys.contains) } ?? keys
        }
        return candidates?.first
    }

    /// The structures of a union whose variants are tried, with the keys that not all of them have; empty if all have the same.
    func rivals(
        _ union: Declaration.Union
    ) -> [(item: Declaration.Union.Case, keys: [String])] {
        guard union.discriminator == nil else { return [] }
        var objects: [(item: Declaration.Union.Case, keys: [String])] = []
        for item in union.cases {
            guard case .declared(let key) = item.type,
                case .structure(let structure)? = declarations[key]?.body
            else { continue }
            objects.append((item, structure.properties.map(\.key)))
        }
        // If each has all keys of the next one, the order is the same for all values.
        let isDecided = zip(objects, objects.dropFirst()).allSatisfy { object, next in
            Set(object.keys).isSuperset(of: next.keys)
        }
        guard !isDecided else { return [] }
        var shared = Set(objects.first?.keys ?? [])
        for object in objects { shared.formIntersection(object.keys) }
        return objects.map { ($0.item, $0.keys.filter { !shared.contains($0) }) }
    }

    /// The cases in the order in which they are tried: those that accept fewer values first.
    private func ranked(_ cases: [Declaration.Union.Case]) -> [Declaration.Union.Case] {
        func rank(_ type: SwiftType) -> Int {
            switch type {
            case .builtin("Bool"): 0
            case .builtin("Int"), .builtin("Int64"): 1
            case .builtin("Double"): 2
            case .builtin("UUID"), .builtin("FullDate"): 3
            case .builtin("Date"): 4
            case .builtin("JSON"): 100
            case .builtin, .binary: 6
            case .declared(let key): rank(of: key)
            case .array: 8
            case .dictionary: 99
            case .optional(let type): rank(type)
            }
        }
        func rank(of key: TypeKey) -> Int {
            switch declarations[key]?.body {
            case .enumeration: return 5
            case .structure(let structure):
                // More required members first.
                let required = structure.properties.count { !$0.isOptional }
                return 60 - min(required, 40)
            default: return 61
            }
        }
        return cases.enumerated()
            .sorted { (rank($0.element.type), $0.offset) < (rank($1.element.type), $1.offset) }
            .map(\.element)
    }
}
