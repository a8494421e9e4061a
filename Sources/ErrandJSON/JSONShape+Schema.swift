extension JSONShape {
    /// Creates a shape from a JSON Schema (draft 2020-12) that uses a subset of the keywords.
    ///
    /// Supported:
    /// - `type` (a name or a list of names), `enum`, `const`, `nullable` (OpenAPI 3.0),
    /// - `properties`, `patternProperties`, `additionalProperties`, `required`, `minProperties`,
    ///   `maxProperties`, `items`, `prefixItems`, `minItems`, `maxItems`, `uniqueItems`,
    /// - `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` (also the Booleans of OpenAPI
    ///   3.0), `multipleOf`, `minLength`, `maxLength`, `pattern`,
    /// - `format` for `date`, `date-time`, `time`, `uuid`, `ipv4`, `ipv6`, `int32` and `int64`; other
    ///   formats check nothing,
    /// - `anyOf`, `oneOf`, `allOf`, `not`, and the schemas `true` and `false`,
    /// - `$ref` with a JSON pointer, such as `#/$defs/node`, also to a schema around it; with
    ///   ``init(jsonSchema:in:)`` it leads into another document,
    /// - `discriminator` (OpenAPI) beside `oneOf` or `anyOf` whose schemas are references: the value of
    ///   its property decides which of them applies.
    ///
    /// Annotations such as `title`, `description`, `default`, `$defs` and names with `x-` check nothing
    /// and are ignored. As JSON Schema requires, `null` passes only where the schema
    /// allows it, and a keyword for one type accepts values of other types unless there is a
    /// `type`. Patterns are regular expressions of Swift for strings of at most 4096 bytes; see
    /// ``pattern(_:)``.
    ///
    /// - Throws: ``SchemaError`` with every keyword that is not supported or has an invalid value.
    public init(jsonSchema: JSON) throws(SchemaError) {
        self = try SchemaDocument(jsonSchema).shape(of: jsonSchema)
    }

    /// Creates a shape from a JSON Schema whose references lead into a document.
    ///
    /// For example, with a schema of an OpenAPI document:
    ///
    ///     let pet = try JSONShape(jsonSchema: ["$ref": "#/components/schemas/Pet"], in: document)
    ///
    /// The keywords are those of ``init(jsonSchema:)``. Shapes of one document share its schemas.
    ///
    /// - Throws: ``SchemaError`` with every problem of the schema and of those that it leads to.
    public init(jsonSchema: JSON, in document: SchemaDocument) throws(SchemaError) {
        self = try document.shape(of: jsonSchema)
    }

    /// The error for a JSON Schema that has no equivalent shape.
    public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
        /// One keyword that cannot be used.
        public struct Problem: Sendable, Hashable, CustomStringConvertible {
            /// The position in the schema as a normalised path of RFC 9535.
            public var path: String
            /// The reason.
            public var reason: String

            /// The path and the reason in one sentence.
            public var description: String { "\(path): \(reason)" }
        }

        /// All problems, in the order of the schema.
        public var problems: [Problem]

        /// All problems, one on each line.
        public var description: String {
            problems.map(\.description).joined(separator: "\n")
        }
    }
}

/// Converts JSON Schemas to shapes and collects what has no equivalent.
///
/// Each shape that it returns decides about `null` itself, whatever its position.
struct SchemaReader {
    private let document: JSON
    private var definitions: [String: JSONShape.Definition] = [:]
    /// The definitions in the order in which they were read.
    private var names: [String] = []
    /// The names of references whose schemas were not read yet.
    private var pending: [String] = []
    /// The problems and the references of each definition; those of the outermost schema have no name.
    private var problems: [String?: [JSONShape.SchemaError.Problem]] = [:]
    private var references: [String?: Set<String>] = [:]
    /// The references that each definition applies to its own value, which must not lead back to it.
    private var inPlace: [String: Set<String>] = [:]
    /// The definitions that lead to a problem.
    private var faulty: Set<String> = []
    /// The members of large objects of the document, by the index of the object.
    private var tables: [Int: [ExactKey: JSON]] = [:]
    /// The definition that is read; `nil` for the outermost schema.
    private var current: String?
    /// Whether the value that is described is that of the definition, and not one of its members or items.
    private var isInPlace = true

    init(document: JSON) { self.document = document }

    /// The shape of an outermost schema, with the schemas that its references lead to, and its problems.
    mutating func shape(
        ofRoot schema: JSON
    ) -> (shape: JSONShape, problems: [JSONShape.SchemaError.Problem]) {
        problems[nil] = nil
        references[nil] = nil
        let known = names.count
        let root = shape(of: schema, at: ShapePath(), depth: 0)
        while let name = pending.popLast() { readDefinition(name) }
        for name in names[known...] { checkDefinition(name) }
        findFaults(of: names[known...])
        current = nil
        if problems[nil] == nil, let problem = root.problem {
            report(ShapePath(), "The shape can never match. \(problem)")
        }
        let isFaultless =
            problems[nil] == nil && (references[nil] ?? []).isDisjoint(with: faulty)
        return (root, isFaultless ? [] : problemsOfRoot())
    }

    /// Whether schemas were read that a shape must keep alive.
    var hasDefinitions: Bool { !definitions.isEmpty }

    private mutating func readDefinition(_ name: String) {
        guard let pointer = SchemaPointer(name) else { return }
        names.append(name)
        current = name
        definitions[name]?.shape = shape(
            of: value(of: pointer), at: pointer.path, depth: 0)
        current = nil
    }

    private mutating func checkDefinition(_ name: String) {
        current = name
        func path() -> ShapePath { SchemaPointer(name)?.path ?? ShapePath() }
        if leads(name, to: name) {
            report(path(), "The reference leads to itself.")
        } else if problems[name] == nil, let problem = definitions[name]?.shape.problem {
            report(path(), "The shape can never match. \(problem)")
        }
    }

    /// Finds which of the definitions that were just read lead to a problem; those of earlier ones are known.
    private mutating func findFaults(of names: ArraySlice<String>) {
        var users: [String: [String]] = [:]
        var open: [String] = []
        for name in names {
            let references = references[name] ?? []
            for reference in references { users[reference, default: []].append(name) }
            if problems[name] != nil || !references.isDisjoint(with: faulty) { open.append(name) }
        }
        while let name = open.popLast() {
            guard faulty.insert(name).inserted else { continue }
            open += users[name] ?? []
        }
    }

    private func leads(_ name: String, to target: String) -> Bool {
        Self.reached(from: inPlace[name] ?? [], by: { inPlace[$0] ?? [] }).contains(target)
    }

    private static func reached(
        from start: Set<String>, by next: (String) -> Set<String>
    ) -> Set<String> {
        var seen = start
        var open = Array(start)
        while let name = open.popLast() {
            for other in next(name) where seen.insert(other).inserted { open.append(other) }
        }
        return seen
    }

    /// The problems of the outermost schema, and of the definitions that it leads to.
    private func problemsOfRoot() -> [JSONShape.SchemaError.Problem] {
        let reached = Self.reached(from: references[nil] ?? []) { references[$0] ?? [] }
        return (problems[nil] ?? [])
            + names.filter(reached.contains).flatMap { problems[$0] ?? [] }
    }

    private mutating func reference(of schema: JSON, at path: ShapePath) -> JSONShape? {
        guard schema["$ref"].exists else { return nil }
        let path = path.appending(.key("$ref"))
        guard let name = schema["$ref"].string else {
            report(path, Self.noPointer)
            return nil
        }
        guard let definition = definition(name, path) else { return nil }
        references[current, default: []].insert(name)
        if let current, isInPlace { inPlace[current, default: []].insert(name) }
        var shape = JSONShape(.reference(JSONShape.Reference(definition)))
        shape.nulls = .byRule
        return shape
    }

    private static let noPointer = "A reference must be a JSON pointer that begins with #."

    /// The definition of a reference; `nil`, and a problem, if it leads to nothing.
    private mutating func definition(
        _ name: String, _ path: ShapePath
    ) -> JSONShape.Definition? {
        if let known = definitions[name] { return known }
        guard let pointer = SchemaPointer(name) else {
            report(path, Self.noPointer)
            return nil
        }
        guard value(of: pointer).exists else {
            report(path, "The reference leads to nothing.")
            return nil
        }
        let definition = JSONShape.Definition(name)
        definitions[name] = definition
        pending.append(name)
        return definition
    }

    /// The value that a pointer leads to; the members of large objects are found in tables.
    private mutating func value(of pointer: SchemaPointer) -> JSON {
        pointer.keys.reduce(document) { value, key in
            guard value.kind == .object, value.count > 32 else {
                return SchemaPointer.child(key, of: value)
            }
            let table =
                tables[value.index]
                ?? Dictionary(
                    (value.object ?? []).map { (ExactKey($0.key), $0.value) },
                    uniquingKeysWith: { first, _ in first })
            tables[value.index] = table
            return table[ExactKey(key)] ?? .absent
        }
    }

    /// The shape of a member or an item, whose references may lead back.
    private mutating func shape(ofPart schema: JSON, at path: ShapePath, depth: Int) -> JSONShape {
        let outer = isInPlace
        isInPlace = false
        defer { isInPlace = outer }
        return shape(of: schema, at: path, depth: depth)
    }

    private enum ValueType: String, CaseIterable {
        case null, boolean, integer, number, string, array, object
    }

    mutating func report(_ path: ShapePath, _ reason: String) {
        problems[current, default: []].append(.init(path: path.description, reason: reason))
    }

    mutating func shape(of schema: JSON, at path: ShapePath, depth: Int) -> JSONShape {
        if let isAny = schema.bool { return isAny ? Self.anything : Self.nothing }
        guard schema.kind == .object else {
            report(path, "A schema must be an object, true or false.")
            return Self.anything
        }
        guard depth < 128 else {
            report(path, "Schemas are nested more than 128 levels deep.")
            return Self.anything
        }
        for key in schema.keys where !Self.isKnown(key) {
            report(path.appending(.key(key)), "The keyword is not supported.")
        }
        var parts: [JSONShape] = []
        if let target = reference(of: schema, at: path) { parts.append(target) }
        if let typed = typedShape(of: schema, at: path, depth: depth) { parts.append(typed) }
        parts += valueShapes(of: schema, at: path)
        parts += combinations(in: schema, at: path, depth: depth)
        return Self.all(parts)
    }

    // MARK: - Keywords

    private static let checks: Set<String> = [
        "type", "enum", "const", "nullable", "properties", "required", "additionalProperties",
        "items", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "minLength", "maxLength", "pattern", "anyOf", "oneOf", "allOf", "not",
        "$ref", "discriminator", "multipleOf", "uniqueItems", "prefixItems", "patternProperties",
        "minProperties", "maxProperties", "format",
    ]
    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default",
        "example", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding",
        "contentMediaType", "externalDocs", "xml",
    ]

    private static func isKnown(_ key: String) -> Bool {
        checks.contains(key) || annotations.contains(key) || key.utf8.starts(with: "x-".utf8)
    }

    private mutating func valueShapes(of schema: JSON, at path: ShapePath) -> [JSONShape] {
        var shapes: [JSONShape] = []
        if schema["enum"].exists {
            if let values = schema["enum"].array, !values.isEmpty {
                shapes.append(Self.oneValue(of: values))
            } else {
                report(path.appending(.key("enum")), "The value must be an array with items.")
            }
        }
        if schema["const"].exists { shapes.append(Self.oneValue(of: [schema["const"]])) }
        return shapes
    }

    private static func oneValue(of values: [JSON]) -> JSONShape {
        exact(.enumeration(values), acceptsNull: values.contains { $0.isNull })
    }

    private mutating func combinations(
        in schema: JSON, at path: ShapePath, depth: Int
    ) -> [JSONShape] {
        var shapes: [JSONShape] = []
        for keyword in ["allOf", "anyOf", "oneOf"] where schema[keyword].exists {
            let path = path.appending(.key(keyword))
            guard let items = schema[keyword].array, !items.isEmpty else {
                report(path, "The value must be an array with items.")
                continue
            }
            let members = items.enumerated().map { position, item in
                shape(of: item, at: path.appending(.position(position)), depth: depth + 1)
            }
            if keyword != "allOf", let choice = choice(of: schema, items, members) {
                shapes.append(choice)
                continue
            }
            switch keyword {
            case "allOf": shapes += members
            case "anyOf": shapes.append(Self.any(members))
            default:
                shapes.append(Self.any(members))
                var single = JSONShape.custom("exactly one of \(members.count) schemas") { json in
                    members.count { $0.matches(json) } == 1
                }
                single.nulls = .byRule
                shapes.append(single)
            }
        }
        if schema["not"].exists {
            let path = path.appending(.key("not"))
            let refused = shape(of: schema["not"], at: path, depth: depth + 1)
            var other = JSONShape.custom("no \(refused.expectation)") { !refused.matches($0) }
            other.nulls = .byRule
            shapes.append(other)
        }
        return shapes
    }

    /// The variants by the value of the discriminator; nil without one, and if a variant has no name.
    private func choice(of schema: JSON, _ items: [JSON], _ members: [JSONShape]) -> JSONShape? {
        guard let key = schema["discriminator"]["propertyName"].string else { return nil }
        let mapping = schema["discriminator"]["mapping"].object ?? []
        var shapes: [[UInt8]: JSONShape] = [:]
        for (item, shape) in zip(items, members) {
            guard let reference = item["$ref"].string else { return nil }
            let name = SchemaPointer(reference)?.name ?? reference
            let values = mapping.filter { $0.value.string == reference || $0.value.string == name }
            for (value, _) in values { shapes[Array(value.utf8)] = shape }
            if values.isEmpty { shapes[Array(name.utf8)] = shape }
        }
        let choice = JSONShape.Choice(key: key, shapes: shapes, otherwise: Self.any(members))
        var shape = JSONShape(.choice(choice))
        shape.nulls = .byRule
        return shape
    }

    // MARK: - Types

    /// The shape by `type` and by the keywords for single types; nil if every value passes.
    private mutating func typedShape(
        of schema: JSON, at path: ShapePath, depth: Int
    ) -> JSONShape? {
        var types = types(of: schema, at: path)
        if schema["nullable"].bool == true { types?.insert(.null) }
        let keys = schema.keys
        // A type is also read for its keywords, which are checked where the type is not allowed too.
        let restricted = Self.keywords.filter { keys.contains(where: $0.names.contains) }
            .map(\.type)
        guard types != nil || !restricted.isEmpty || schema["format"].exists else { return nil }
        var allowed = types ?? Set(ValueType.allCases)
        if allowed.contains(.number) { allowed.remove(.integer) }
        var shapes: [ValueType: JSONShape] = [:]
        for type in ValueType.allCases where allowed.contains(type) || restricted.contains(type) {
            shapes[type] =
                switch type {
                case .null: nil
                case .boolean: .bool
                case .integer: integers(schema, path)
                case .number: numbers(schema, path)
                case .string: strings(schema, path)
                case .array: arrays(schema, path, depth)
                case .object: objects(schema, path, depth)
                }
        }
        let members = ValueType.allCases.filter(allowed.contains).compactMap { shapes[$0] }
            .map { Self.exact($0, acceptsNull: false) }
        let acceptsNull = allowed.contains(.null)
        if members.isEmpty { return Self.exact(.null, acceptsNull: acceptsNull) }
        return Self.exact(
            members.count == 1 ? members[0] : .oneOf(members), acceptsNull: acceptsNull)
    }

    /// The keywords for single types; those of integers are those of numbers.
    private static let keywords: [(type: ValueType, names: Set<String>)] = [
        (
            .number,
            ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        ),
        (.string, ["minLength", "maxLength", "pattern"]),
        (.array, ["items", "minItems", "maxItems", "uniqueItems", "prefixItems"]),
        (
            .object,
            [
                "properties", "required", "additionalProperties", "patternProperties",
                "minProperties", "maxProperties",
            ]
        ),
    ]

    /// The types that `type` names; nil if there is no such keyword.
    private mutating func types(of schema: JSON, at path: ShapePath) -> Set<ValueType>? {
        let value = schema["type"]
        guard value.exists else { return nil }
        let names = value.array ?? [value]
        let types = names.compactMap { $0.string.flatMap(ValueType.init) }
        guard !types.isEmpty, types.count == names.count else {
            report(
                path.appending(.key("type")),
                "The value must be one or more of "
                    + ValueType.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            return nil
        }
        return Set(types)
    }

    private mutating func integers(_ schema: JSON, _ path: ShapePath) -> JSONShape {
        // Invalid bounds are reported by `numbers`.
        func bound(_ keyword: String, _ rule: FloatingPointRoundingRule, _ step: Int64) -> Int64? {
            let value = Self.bound(keyword, of: schema)
            if let whole = value.int64 {
                return whole.addingReportingOverflow(step).overflow ? whole : whole + step
            }
            guard let value = value.double else { return nil }
            return Int64(exactly: value.rounded(rule)) ?? (value < 0 ? .min : .max)
        }
        let lower = [bound("minimum", .up, 0), bound("exclusiveMinimum", .up, 1)]
        let upper = [bound("maximum", .down, 0), bound("exclusiveMaximum", .down, -1)]
        let range = JSONShape.NumberRange<Int64>(
            lower: lower.compactMap { $0 }.max(), upper: upper.compactMap { $0 }.min())
        var parts: [JSONShape] = [
            range.lower == nil && range.upper == nil ? .int : JSONShape(.integers(range))
        ]
        switch schema["format"].string {
        case "int32":
            parts.append(
                JSONShape(.integers(.init(lower: Int64(Int32.min), upper: Int64(Int32.max)))))
        case "int64": parts.append(JSONShape(.integers(.init(lower: .min, upper: .max))))
        default: break
        }
        if let multiple = multiple(of: schema) { parts.append(multiple) }
        return Self.all(parts.map { Self.exact($0, acceptsNull: false) })
    }

    /// The bound that a keyword states: a number, or that of the other keyword and a Boolean (OpenAPI 3.0).
    private static func bound(_ keyword: String, of schema: JSON) -> JSON {
        switch keyword {
        case "minimum" where schema["exclusiveMinimum"].bool == true: .absent
        case "maximum" where schema["exclusiveMaximum"].bool == true: .absent
        case "exclusiveMinimum" where schema[keyword].bool == true: schema["minimum"]
        case "exclusiveMaximum" where schema[keyword].bool == true: schema["maximum"]
        default: schema[keyword]
        }
    }

    /// The shape of multiples; nil without the keyword.
    ///
    /// `numbers` reports an invalid value.
    private func multiple(of schema: JSON) -> JSONShape? {
        guard let step = schema["multipleOf"].double, step > 0 else { return nil }
        return .custom("a multiple of \(schema["multipleOf"].number ?? "")") { json in
            if let whole = json.int64, let step = Int64(exactly: step) { return whole % step == 0 }
            guard let value = json.double else { return false }
            // The nearest multiple has the same text in binary: 0.3 is a multiple of 0.1.
            let count = (value / step).rounded()
            return abs(value - count * step) <= abs(value) * 0x1p-50
        }
    }

    private mutating func numbers(_ schema: JSON, _ path: ShapePath) -> JSONShape {
        var bounds: [String: Double] = [:]
        for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
        where schema[keyword].exists {
            let bound = Self.bound(keyword, of: schema)
            if let value = bound.double {
                bounds[keyword] = value
            } else if schema[keyword].double == nil, schema[keyword].bool != false {
                report(path.appending(.key(keyword)), "The value must be a number.")
            }
        }
        if schema["multipleOf"].exists, schema["multipleOf"].double.map({ $0 > 0 }) != true {
            report(path.appending(.key("multipleOf")), "The value must be a number above 0.")
        }
        var range = JSONShape.NumberRange<Double>(
            lower: [bounds["minimum"], bounds["exclusiveMinimum"]?.nextUp].compactMap { $0 }.max(),
            upper: bounds["maximum"])
        if let limit = bounds["exclusiveMaximum"], limit <= range.upper ?? .infinity {
            range.upper = limit
            range.excludesUpper = true
        }
        let shape = JSONShape(.numbers(range))
        guard let multiple = multiple(of: schema) else { return shape }
        return Self.all([shape, multiple].map { Self.exact($0, acceptsNull: false) })
    }

    private mutating func strings(_ schema: JSON, _ path: ShapePath) -> JSONShape {
        var parts: [JSONShape] = [.string]
        if let range = range("minLength", "maxLength", in: schema, at: path) {
            // JSON Schema counts characters of Unicode (RFC 8259), `.length` counts those of Swift.
            parts.append(
                .custom("a string with a length \(range.inWords)") { json in
                    json.string.map { range.contains(Int64($0.unicodeScalars.count)) } ?? false
                })
        }
        if schema["pattern"].exists {
            let path = path.appending(.key("pattern"))
            if let text = schema["pattern"].string {
                let pattern = JSONShape.pattern(text)
                if pattern.problem != nil {
                    report(path, "The value is not a valid regular expression.")
                }
                parts.append(pattern)
            } else {
                report(path, "The value must be a string.")
            }
        }
        if let format = schema["format"].string.flatMap(TextFormat.init) {
            parts.append(
                .custom("a string in the format \(format.rawValue)") { json in
                    json.string.map(format.accepts) ?? false
                })
        }
        return Self.all(parts.map { Self.exact($0, acceptsNull: false) })
    }

    private mutating func arrays(_ schema: JSON, _ path: ShapePath, _ depth: Int) -> JSONShape {
        var parts: [JSONShape] = []
        var others: JSONShape?
        if schema["items"].exists {
            let path = path.appending(.key("items"))
            others = shape(ofPart: schema["items"], at: path, depth: depth + 1)
        }
        if schema["prefixItems"].exists {
            let path = path.appending(.key("prefixItems"))
            if schema["prefixItems"].kind != .array { report(path, "The value must be an array.") }
            var first: [JSONShape] = []
            for (position, item) in (schema["prefixItems"].array ?? []).enumerated() {
                let path = path.appending(.position(position))
                first.append(shape(ofPart: item, at: path, depth: depth + 1))
            }
            let positions = JSONShape.Positions(first: first, others: others ?? Self.anything)
            parts.append(JSONShape(.positions(positions)))
        } else if let others {
            parts.append(.array(of: others))
        }
        if schema["uniqueItems"].bool == true {
            parts.append(.custom("an array of different items") { UniqueItems.areIn($0) })
        }
        if let range = range("minItems", "maxItems", in: schema, at: path) {
            parts.append(
                .custom("an array with a count \(range.inWords)") { json in
                    json.kind == .array && range.contains(Int64(json.count))
                })
        }
        if parts.isEmpty { parts.append(.array) }
        return Self.all(parts.map { Self.exact($0, acceptsNull: false) })
    }

    private mutating func objects(_ schema: JSON, _ path: ShapePath, _ depth: Int) -> JSONShape {
        let required = requiredKeys(of: schema, at: path)
        var members: [(String, JSONShape)] = []
        if schema["properties"].exists {
            let path = path.appending(.key("properties"))
            if schema["properties"].kind != .object {
                report(path, "The value must be an object.")
            }
            for (key, value) in schema["properties"].object ?? [] {
                let path = path.appending(.key(key))
                let member = shape(ofPart: value, at: path, depth: depth + 1)
                members.append((key, required.contains(key) ? member : .optional(member)))
            }
        }
        let known = Set(members.map(\.0))
        for key in required where !known.contains(key) { members.append((key, Self.anything)) }
        let open = members.isEmpty ? JSONShape.object : JSONShape(members)
        let additional = schema["additionalProperties"]
        if additional.exists, additional.bool == nil, additional.kind != .object {
            report(
                path.appending(.key("additionalProperties")),
                "The value must be a Boolean or a schema.")
        }
        var parts: [JSONShape] = []
        let patterns = patterns(of: schema, at: path, depth)
        if additional.kind == .object || !patterns.isEmpty {
            var others = additional.bool == false ? Self.nothing : Self.anything
            if additional.kind == .object {
                let path = path.appending(.key("additionalProperties"))
                others = shape(ofPart: additional, at: path, depth: depth + 1)
            }
            parts.append(open)
            if known.isEmpty, patterns.isEmpty {
                parts.append(.dictionary(of: others))
            } else {
                // `open` checks the members that have a key.
                let listed = Dictionary(
                    known.map { (Array($0.utf8), Self.anything) },
                    uniquingKeysWith: { first, _ in first })
                parts.append(
                    JSONShape(.members(.init(keys: listed, patterns: patterns, others: others))))
            }
        } else if additional.bool == false {
            let listed = members.filter { known.contains($0.0) }
            // A required key that `properties` lacks is an additional one: no object can match.
            guard listed.count == members.count else { return Self.nothing }
            parts.append(.closed(JSONShape(listed)))
        } else {
            parts.append(open)
        }
        if let range = range("minProperties", "maxProperties", in: schema, at: path) {
            parts.append(
                .custom("an object with a count \(range.inWords)") { json in
                    json.kind == .object && range.contains(Int64(json.count))
                })
        }
        return Self.all(parts.map { Self.exact($0, acceptsNull: false) })
    }

    private mutating func patterns(
        of schema: JSON, at path: ShapePath, _ depth: Int
    ) -> [(pattern: ShapePattern, shape: JSONShape)] {
        guard schema["patternProperties"].exists else { return [] }
        let path = path.appending(.key("patternProperties"))
        if schema["patternProperties"].kind != .object {
            report(path, "The value must be an object.")
        }
        var patterns: [(pattern: ShapePattern, shape: JSONShape)] = []
        for (text, value) in schema["patternProperties"].object ?? [] {
            let path = path.appending(.key(text))
            let shape = shape(ofPart: value, at: path, depth: depth + 1)
            if let pattern = ShapePattern(text) {
                patterns.append((pattern, shape))
            } else {
                report(path, "The key is not a valid regular expression.")
            }
        }
        return patterns
    }

    private mutating func requiredKeys(of schema: JSON, at path: ShapePath) -> [String] {
        let value = schema["required"]
        guard value.exists else { return [] }
        let keys = (value.array ?? []).compactMap(\.string)
        if value.kind != .array || keys.count != value.count || Set(keys).count != keys.count {
            report(
                path.appending(.key("required")),
                "The value must be an array of strings, each of them once.")
        }
        return keys
    }

    /// A range of counts; nil if both keywords are absent.
    private mutating func range(
        _ lower: String, _ upper: String, in schema: JSON, at path: ShapePath
    ) -> JSONShape.NumberRange<Int64>? {
        guard schema[lower].exists || schema[upper].exists else { return nil }
        for keyword in [lower, upper] where schema[keyword].exists {
            guard let count = schema[keyword].int64, count >= 0 else {
                report(path.appending(.key(keyword)), "The value must be an integer from 0.")
                return nil
            }
        }
        let range = JSONShape.NumberRange<Int64>(
            lower: schema[lower].int64, upper: schema[upper].int64)
        if range.isEmpty { report(path.appending(.key(lower)), "\(lower) is above \(upper).") }
        return range
    }

    // MARK: - Shapes that decide about null

    private static let anything = exact(.any, acceptsNull: true)
    private static let nothing = exact(.custom("no value") { _ in false }, acceptsNull: false)

    private static func exact(_ shape: JSONShape, acceptsNull: Bool) -> JSONShape {
        acceptsNull ? .nullable(shape) : .nonNull(shape)
    }

    private static func all(_ parts: [JSONShape]) -> JSONShape {
        if parts.isEmpty { return anything }
        guard parts.count > 1 else { return parts[0] }
        var shape = JSONShape.allOf(parts)
        // References may lead to shapes that are not read yet.
        shape.nulls = .byRule
        return shape
    }

    private static func any(_ parts: [JSONShape]) -> JSONShape {
        guard parts.count > 1 else { return parts[0] }
        var shape = JSONShape.oneOf(parts)
        shape.nulls = .byRule
        return shape
    }
}
