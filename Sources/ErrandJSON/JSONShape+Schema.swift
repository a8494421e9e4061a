extension JSONShape {
    /// Creates a shape from a JSON Schema (draft 2020-12) that uses a subset of the keywords.
    ///
    /// Supported:
    /// - `type` (a name or a list of names), `enum`, `const`, `nullable` (OpenAPI 3.0),
    /// - `properties`, `required`, `additionalProperties` (a Boolean; a schema only without
    ///   `properties`), `items`, `minItems`, `maxItems`,
    /// - `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`,
    ///   `pattern`,
    /// - `anyOf`, `oneOf`, `allOf`, and the schemas `true` and `false`.
    ///
    /// Annotations such as `title`, `description`, `default`, `format`, `$defs` and names with `x-`
    /// check nothing and are ignored. As JSON Schema requires, `null` passes only where the schema
    /// allows it, and a keyword for one type accepts values of other types unless there is a
    /// `type`. Patterns are regular expressions of Swift for strings of at most 4096 bytes; see
    /// ``pattern(_:)``.
    ///
    /// - Throws: ``SchemaError`` with every keyword that is not supported or has an invalid value.
    public init(jsonSchema: JSON) throws(SchemaError) {
        var reader = SchemaReader()
        let shape = reader.shape(of: jsonSchema, at: ShapePath(), depth: 0)
        if reader.problems.isEmpty, let problem = shape.problem {
            reader.report(ShapePath(), "The shape can never match. \(problem)")
        }
        guard reader.problems.isEmpty else { throw SchemaError(problems: reader.problems) }
        self = shape
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
    private(set) var problems: [JSONShape.SchemaError.Problem] = []

    private enum ValueType: String, CaseIterable {
        case null, boolean, integer, number, string, array, object
    }

    mutating func report(_ path: ShapePath, _ reason: String) {
        problems.append(.init(path: path.description, reason: reason))
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
        if let typed = typedShape(of: schema, at: path, depth: depth) { parts.append(typed) }
        parts += valueShapes(of: schema, at: path)
        parts += combinations(in: schema, at: path, depth: depth)
        return Self.all(parts)
    }

    // MARK: - Keywords

    private static let checks: Set<String> = [
        "type", "enum", "const", "nullable", "properties", "required", "additionalProperties",
        "items", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "minLength", "maxLength", "pattern", "anyOf", "oneOf", "allOf",
    ]
    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default",
        "example", "examples", "deprecated", "readOnly", "writeOnly", "format", "contentEncoding",
        "contentMediaType",
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
            switch keyword {
            case "allOf": shapes += members
            case "anyOf": shapes.append(Self.any(members))
            default:
                shapes.append(Self.any(members))
                let single = JSONShape.custom("exactly one of \(members.count) schemas") { json in
                    members.count { $0.matches(json) } == 1
                }
                shapes.append(
                    Self.exact(single, acceptsNull: members.count { $0.matches(.null) } == 1))
            }
        }
        return shapes
    }

    // MARK: - Types

    /// The shape by `type` and by the keywords for single types; nil if every value passes.
    private mutating func typedShape(
        of schema: JSON, at path: ShapePath, depth: Int
    ) -> JSONShape? {
        var types = types(of: schema, at: path)
        if schema["nullable"].bool == true { types?.insert(.null) }
        let isRestricted = [
            "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
            "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength",
            "maxLength", "pattern",
        ].contains { schema[$0].exists }
        guard types != nil || isRestricted else { return nil }
        var allowed = types ?? Set(ValueType.allCases)
        if allowed.contains(.number) { allowed.remove(.integer) }
        // Every type is read, so that the keywords of types that are not allowed are checked too.
        let shapes: [ValueType: JSONShape] = [
            .boolean: .bool, .integer: integers(schema, path), .number: numbers(schema, path),
            .string: strings(schema, path), .array: arrays(schema, path, depth),
            .object: objects(schema, path, depth),
        ]
        let members = ValueType.allCases.filter(allowed.contains).compactMap { shapes[$0] }
            .map { Self.exact($0, acceptsNull: false) }
        let acceptsNull = allowed.contains(.null)
        if members.isEmpty { return Self.exact(.null, acceptsNull: acceptsNull) }
        return Self.exact(
            members.count == 1 ? members[0] : .oneOf(members), acceptsNull: acceptsNull)
    }

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
            if let whole = schema[keyword].int64 {
                return whole.addingReportingOverflow(step).overflow ? whole : whole + step
            }
            guard let value = schema[keyword].double else { return nil }
            return Int64(exactly: value.rounded(rule)) ?? (value < 0 ? .min : .max)
        }
        let lower = [bound("minimum", .up, 0), bound("exclusiveMinimum", .up, 1)]
        let upper = [bound("maximum", .down, 0), bound("exclusiveMaximum", .down, -1)]
        let range = JSONShape.NumberRange<Int64>(
            lower: lower.compactMap { $0 }.max(), upper: upper.compactMap { $0 }.min())
        return range.lower == nil && range.upper == nil ? .int : JSONShape(.integers(range))
    }

    private mutating func numbers(_ schema: JSON, _ path: ShapePath) -> JSONShape {
        var bounds: [String: Double] = [:]
        for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
        where schema[keyword].exists {
            if let value = schema[keyword].double {
                bounds[keyword] = value
            } else {
                report(path.appending(.key(keyword)), "The value must be a number.")
            }
        }
        var range = JSONShape.NumberRange<Double>(
            lower: [bounds["minimum"], bounds["exclusiveMinimum"]?.nextUp].compactMap { $0 }.max(),
            upper: bounds["maximum"])
        if let limit = bounds["exclusiveMaximum"], limit <= range.upper ?? .infinity {
            range.upper = limit
            range.excludesUpper = true
        }
        return JSONShape(.numbers(range))
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
        return Self.all(parts.map { Self.exact($0, acceptsNull: false) })
    }

    private mutating func arrays(_ schema: JSON, _ path: ShapePath, _ depth: Int) -> JSONShape {
        var parts: [JSONShape] = []
        if schema["items"].exists {
            let path = path.appending(.key("items"))
            parts.append(.array(of: shape(of: schema["items"], at: path, depth: depth + 1)))
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
                let member = shape(of: value, at: path.appending(.key(key)), depth: depth + 1)
                members.append((key, required.contains(key) ? member : .optional(member)))
            }
        }
        let known = Set(members.map(\.0))
        for key in required where !known.contains(key) { members.append((key, Self.anything)) }
        let open = members.isEmpty ? JSONShape.object : JSONShape(members)
        let additional = schema["additionalProperties"]
        if additional.kind == .object {
            let path = path.appending(.key("additionalProperties"))
            if !known.isEmpty {
                report(path, "A schema is not supported together with `properties`.")
            }
            let values = shape(of: additional, at: path, depth: depth + 1)
            return Self.all(
                [open, .dictionary(of: values)].map { Self.exact($0, acceptsNull: false) })
        }
        if additional.exists, additional.bool == nil {
            report(
                path.appending(.key("additionalProperties")),
                "The value must be a Boolean or a schema.")
        }
        guard additional.bool == false else { return open }
        let listed = members.filter { known.contains($0.0) }
        guard listed.count == members.count else {
            // A required key that `properties` lacks is an additional one: no object can match.
            return Self.nothing
        }
        return .closed(JSONShape(listed))
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
        return exact(.allOf(parts), acceptsNull: parts.allSatisfy { $0.matches(.null) })
    }

    private static func any(_ parts: [JSONShape]) -> JSONShape {
        guard parts.count > 1 else { return parts[0] }
        return exact(.oneOf(parts), acceptsNull: parts.contains { $0.matches(.null) })
    }
}
