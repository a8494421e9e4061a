/// Finds the shapes of schemas.
struct ShapeFinder {
    let schemas: SchemaReader
    private let open = OpenSchemas()

    init(schemas: SchemaReader) { self.schemas = schemas }

    /// The schemas whose shapes are being found, to end those that consist of themselves.
    private final class OpenSchemas {
        var list: Set<ObjectIdentifier> = []
    }

    /// The schema that decides, after aliases, and whether null is accepted on the way.
    func resolved(_ schema: Schema) -> (schema: Schema, shape: Shape, isNullable: Bool) {
        var schema = schema
        var isNullable = schema.isNullable
        var seen: Set<Place> = []
        while true {
            let shape = shape(of: schema)
            guard case .same(let other) = shape else { return (schema, shape, isNullable) }
            guard seen.insert(schema.place).inserted else {
                return (schema, refused(schema), isNullable)
            }
            schema = other
            isNullable = isNullable || other.isNullable
        }
    }

    private func refused(_ schema: Schema) -> Shape {
        schemas.documents.report(
            .refused, schema.place, "The schema is defined by itself; its type is JSON.",
            subject: schema.place.name)
        return .any
    }

    func shape(of schema: Schema) -> Shape {
        guard open.list.insert(ObjectIdentifier(schema)).inserted else { return refused(schema) }
        defer { open.list.remove(ObjectIdentifier(schema)) }
        return newShape(of: schema)
    }

    private func newShape(of schema: Schema) -> Shape {
        if let target = schemas.target(of: schema) { return .same(target) }
        if !schema.values.isEmpty, let shape = enumeration(of: schema) { return shape }
        if !schema.variants.isEmpty, let shape = choice(of: schema) { return shape }
        if let subtypes = subtypes(of: schema) { return .union(subtypes, schema.discriminator) }
        if !schema.allOf.isEmpty { return composition(of: schema) }
        let isObject = schema.types.isEmpty || schema.types == ["object"]
        if !schema.properties.isEmpty, isObject || !schema.types.contains("object") {
            return .object(object(of: schema))
        }
        if schema.types.count > 1 { return .union(singleTypes(of: schema), nil) }
        switch schema.types.first {
        case "string": return string(schema)
        case "integer": return .builtin(schema.format == "int64" ? "Int64" : "Int")
        case "number": return .builtin("Double")
        case "boolean": return .builtin("Bool")
        case "array": return .array(schema.hasPositions ? nil : schema.items)
        case "object": return dictionary(schema)
        case nil:
            if schema.items != nil { return .array(schema.items) }
            if !schema.isAdditionalUnspecified { return dictionary(schema) }
            switch schema.format {
            case "binary", "date", "date-time", "uuid", "byte": return string(schema)
            default: return .any
            }
        default: return .any
        }
    }

    private func string(_ schema: Schema) -> Shape {
        switch schema.format {
        case "date-time": .builtin("Date")
        case "date": .builtin("FullDate")
        case "uuid": .builtin("UUID")
        case "byte": .builtin("Data")
        case "binary": .binary
        default: .builtin("String")
        }
    }

    private func dictionary(_ schema: Schema) -> Shape {
        if case .schema(let values) = schema.additional { return .dictionary(values) }
        return .dictionary(nil)
    }

    // MARK: - Values

    private func enumeration(of schema: Schema) -> Shape? {
        let isText = schema.values.allSatisfy { $0.string != nil }
        let isInteger = schema.values.allSatisfy { $0.int != nil }
        if isText || isInteger {
            let cases = schema.values.enumerated().map { position, value in
                EnumerationCase(
                    value: value,
                    name: schema.valueNames.indices.contains(position)
                        ? schema.valueNames[position] : nil)
            }
            return .enumeration(isInteger: isInteger, cases)
        }
        if schema.values.allSatisfy({ $0.bool != nil }) { return .builtin("Bool") }
        if schema.values.allSatisfy({ $0.double != nil }) { return .builtin("Double") }
        return .any
    }

    // MARK: - Variants

    private func choice(of schema: Schema) -> Shape? {
        let variants = schema.variants
        // Variants that only require members of the object beside them.
        if variants.allSatisfy(\.isUnstructured),
            !schema.properties.isEmpty || !schema.allOf.isEmpty
        {
            return nil
        }
        if !schema.properties.isEmpty || schema.allOf.contains(where: { !$0.isUnstructured }) {
            return .union(distributed(schema, over: variants), schema.discriminator)
        }
        if variants.count == 1 { return .same(variants[0]) }
        if variants.allSatisfy(\.isUnstructured) { return .any }
        if let values = values(of: variants, in: schema) { return values }
        return .union(variants, schema.discriminator)
    }

    /// An enumeration, if all variants are values or text.
    private func values(of variants: [Schema], in schema: Schema) -> Shape? {
        var cases: [EnumerationCase] = []
        var integers: Set<Bool> = []
        var named: [Schema] = []
        var isOpen = false
        for variant in variants {
            let (found, shape, _) = resolved(variant)
            switch shape {
            case .enumeration(let isInteger, let list):
                integers.insert(isInteger)
                if variant.reference != nil, list.count > 1 { named.append(found) }
                if list.count == 1, list[0].name == nil {
                    cases.append(
                        EnumerationCase(
                            value: list[0].value, name: variant.title, text: variant.text))
                } else {
                    cases += list
                }
            case .builtin("String"):
                integers.insert(false)
                isOpen = true
            default: return nil
            }
        }
        guard integers.count == 1, let isInteger = integers.first, !cases.isEmpty else {
            return isOpen && integers == [false] ? .builtin("String") : nil
        }
        // An enumeration is open, so text beside it adds nothing.
        if named.count == 1, variants.count == 2, isOpen { return .same(named[0]) }
        var seen: Set<String> = []
        return .enumeration(
            isInteger: isInteger, cases.filter { seen.insert($0.value.json).inserted })
    }

    private func distributed(_ schema: Schema, over variants: [Schema]) -> [Schema] {
        let base = Schema(place: schema.place.child("+base"), node: schema.node)
        base.types = schema.types
        base.properties = schema.properties
        base.required = schema.required
        base.additional = schema.additional
        base.allOf = schema.allOf
        return variants.enumerated().map { position, variant in
            // A variant that consists of the schema itself has its members already.
            if let target = variant.reference, refers(to: schema.place, target, 0) {
                return variant
            }
            let merged = Schema(place: schema.place.child("+\(position)"), node: variant.node)
            merged.allOf = [base, variant]
            merged.title = variant.title ?? variant.reference?.name
            merged.text = variant.text
            return merged
        }
    }

    private func singleTypes(of schema: Schema) -> [Schema] {
        schema.types.map { type in
            let single = Schema(place: schema.place.child("+\(type)"), node: schema.node)
            single.types = [type]
            single.format = type == "string" || type == "integer" ? schema.format : nil
            single.items = type == "array" ? schema.items : nil
            if type == "object" {
                single.properties = schema.properties
                single.required = schema.required
                single.additional = schema.additional
            }
            return single
        }
    }

    /// The schemas of a mapping that consist of the schema itself; without a mapping, all named ones.
    private func subtypes(of schema: Schema) -> [Schema]? {
        guard schema.variants.isEmpty, let mapping = schema.discriminator?.mapping else {
            return nil
        }
        if mapping.isEmpty {
            let subtypes = schemas.subtypes(of: schema.place).map { place in
                let subtype = Schema(
                    place: schema.place.child("+\(place.name)"),
                    node: Node(value: .bool(true), line: 0))
                subtype.reference = place
                return subtype
            }
            return subtypes.isEmpty ? nil : subtypes
        }
        var seen: Set<Place> = []
        let targets = mapping.map(\.target).filter { target in
            refers(to: schema.place, target, 0) && seen.insert(target).inserted
        }
        return targets.isEmpty ? nil : targets.map(schemas.schema(at:))
    }

    // MARK: - Composition

    private func composition(of schema: Schema) -> Shape {
        let parts = schema.allOf.filter { !$0.isUnstructured }
        // A part whose variant is the whole is its base, and the whole has the members of both.
        if parts.contains(where: {
            schemas.target(of: $0).map { isVariant(schema, of: $0) } ?? false
        }) {
            return .object(object(of: schema))
        }
        let extra = schema.allOf.reduce(into: schema.required) {
            if $1.isUnstructured { $0.formUnion($1.required) }
        }
        if schema.properties.isEmpty, schema.isAdditionalUnspecified || parts.count == 1 {
            if parts.count == 1 {
                let (_, shape, _) = resolved(parts[0])
                // A subtype that adds nothing has the members of its base.
                let isSubtype = schemas.target(of: parts[0]).map { base in
                    subtypes(of: base)?.contains { ($0.reference ?? $0.place) == schema.place }
                        ?? false
                }
                if isSubtype ?? false { return .object(object(of: schema)) }
                guard case .object(let object) = shape, !extra.isSubset(of: object.required) else {
                    return .same(parts[0])
                }
            }
            // Several parts of a scalar restrict the same value.
            let scalar = parts.first { part in
                switch resolved(part).shape {
                case .builtin, .binary, .enumeration, .array: true
                default: false
                }
            }
            if let scalar { return .same(scalar) }
            if parts.isEmpty { return schema.types.first == "object" ? .dictionary(nil) : .any }
        }
        // A part with variants makes variants of the whole.
        for (position, part) in parts.enumerated() where hasOwnVariants(part, in: schema) {
            let (found, shape, _) = resolved(part)
            guard case .union(let variants, let discriminator) = shape else { continue }
            let rest = Schema(place: schema.place.child("+rest"), node: schema.node)
            rest.properties = schema.properties
            rest.required = schema.required
            rest.allOf = parts.enumerated().filter { $0.offset != position }.map(\.element)
            let merged = variants.enumerated().map { number, variant in
                let merged = Schema(place: schema.place.child("+\(number)"), node: variant.node)
                merged.allOf = [variant, rest]
                merged.title = variant.title ?? variant.reference?.name
                return merged
            }
            return .union(merged, discriminator ?? found.discriminator)
        }
        let object = object(of: schema)
        if object.properties.isEmpty {
            if case .schema(let values) = object.additional { return .dictionary(values) }
            return .dictionary(nil)
        }
        return .object(object)
    }

    /// Whether a part is a union that does not itself consist of the whole, as a base class with variants does.
    private func hasOwnVariants(_ part: Schema, in whole: Schema) -> Bool {
        let (found, shape, _) = resolved(part)
        guard case .union(let variants, _) = shape, found.properties.isEmpty else { return false }
        let refersBack = variants.contains { variant in
            guard let target = variant.reference else { return false }
            return target == whole.place || refers(to: found.place, target, 0)
        }
        return !refersBack
    }

    /// Whether a union names a schema as one of its variants.
    private func isVariant(_ schema: Schema, of union: Schema) -> Bool {
        union.variants.contains { $0.reference == schema.place }
    }

    private func refers(to base: Place, _ place: Place, _ depth: Int) -> Bool {
        guard depth < 4 else { return false }
        return schemas.schema(at: place).allOf.contains { part in
            part.reference == base
                || part.reference.map { refers(to: base, $0, depth + 1) } ?? false
        }
    }

    func object(of schema: Schema) -> ObjectShape {
        var object = ObjectShape()
        var seen: Set<Place> = []
        gather(schema, into: &object, &seen)
        return object
    }

    private func gather(_ schema: Schema, into object: inout ObjectShape, _ seen: inout Set<Place>)
    {
        guard seen.insert(schema.place).inserted else { return }
        if let target = schemas.target(of: schema) { gather(target, into: &object, &seen) }
        for part in schema.allOf { gather(part, into: &object, &seen) }
        if schema.variants.count == 1, schema.properties.isEmpty {
            gather(schema.variants[0], into: &object, &seen)
        }
        for (name, property) in schema.properties { object.add(name, property) }
        object.required.formUnion(schema.required)
        switch schema.additional {
        case .unspecified: break
        case .forbidden:
            if case .unspecified = object.additional { object.additional = .forbidden }
        case .allowed, .schema: object.additional = schema.additional
        }
    }
}
