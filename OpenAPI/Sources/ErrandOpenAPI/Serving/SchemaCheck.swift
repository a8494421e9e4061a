/// Compares values with schemas, for requests to a fake service.
struct SchemaCheck {
    let schemas: SchemaReader

    /// What is wrong with a value, each with its path; empty if nothing is.
    func faults(of value: Node, _ schema: Schema, at path: String = "$", depth: Int = 0) -> [String]
    {
        let node = schema.node
        if let isAny = node.bool { return isAny ? [] : ["\(path): no value is allowed"] }
        guard depth < 256 else { return [] }
        var faults: [String] = []
        if let target = schemas.target(of: schema) {
            faults += self.faults(of: value, target, at: path, depth: depth + 1)
        }
        if value.isNull, schema.isNullable { return faults }
        faults += typeFaults(of: value, schema, path)
        if let values = node["enum"]?.items, !values.contains(where: { Self.areEqual($0, value) }) {
            faults.append("\(path): the value is none of the enumeration")
        }
        if let constant = node["const"], !Self.areEqual(constant, value) {
            faults.append("\(path): the value must be \(constant.json)")
        }
        switch value.value {
        case .string(let text): faults += textFaults(of: text, node, path)
        case .number(let text):
            faults += numberFaults(of: Double(text) ?? 0, node, path)
            if let format = node["format"]?.string, !Self.isInRange(text, format) {
                faults.append("\(path): the number is out of the range of \(format)")
            }
        case .array(let items): faults += itemFaults(of: items, schema, path, depth)
        case .object(let members): faults += memberFaults(of: members, schema, path, depth)
        case .null, .bool: break
        }
        return faults + combinationFaults(of: value, schema, path, depth)
    }

    private func accepts(_ value: Node, _ schema: Schema, _ depth: Int) -> Bool {
        faults(of: value, schema, depth: depth + 1).isEmpty
    }

    private func typeFaults(of value: Node, _ schema: Schema, _ path: String) -> [String] {
        guard !schema.types.isEmpty else { return [] }
        let isAccepted = schema.types.contains { type in
            switch (type, value.value) {
            case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array),
                ("object", .object), ("number", .number):
                true
            case ("integer", .number): value.double.map { $0 == $0.rounded() } ?? false
            default: false
            }
        }
        let expected = schema.types.joined(separator: " or ")
        return isAccepted ? [] : ["\(path): expected \(expected), found \(value.kind)"]
    }

    private func textFaults(of text: String, _ node: Node, _ path: String) -> [String] {
        var faults: [String] = []
        let count = text.unicodeScalars.count
        if let minimum = node["minLength"]?.int, count < minimum {
            faults.append("\(path): the text has fewer than \(minimum) characters")
        }
        if let maximum = node["maxLength"]?.int, count > maximum {
            faults.append("\(path): the text has more than \(maximum) characters")
        }
        if let pattern = node["pattern"]?.string, let regex = try? Regex(pattern),
            text.firstMatch(of: regex) == nil
        {
            faults.append("\(path): the text does not match \(pattern)")
        }
        if let format = node["format"]?.string, !Self.accepts(text, format) {
            faults.append("\(path): the text has not the format \(format)")
        }
        return faults
    }

    private static func accepts(_ text: String, _ format: String) -> Bool {
        switch format {
        case "uuid":
            return text.wholeMatch(of: /[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/) != nil
        case "date": return isDate(text)
        case "date-time":
            let time =
                /[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)/
            return isDate(String(text.prefix(10))) && text.dropFirst(10).wholeMatch(of: time) != nil
        default: return true
        }
    }

    /// Whether a whole number is in the range of its format; `Double` has not the digits of large ones.
    private static func isInRange(_ text: String, _ format: String) -> Bool {
        guard text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 45 }) else { return true }
        switch format {
        case "int32": return Int32(text) != nil
        case "int64": return Int64(text) != nil
        default: return true
        }
    }

    private static func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isNumeric = text.utf8.allSatisfy { (48...57).contains($0) || $0 == 45 }
        guard isNumeric, parts.map(\.count) == [4, 2, 2], let year = Int(parts[0]),
            let month = Int(parts[1]), let day = Int(parts[2]), (1...12).contains(month)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[month - 1]).contains(day)
    }

    private func numberFaults(of value: Double, _ node: Node, _ path: String) -> [String] {
        var faults: [String] = []
        func check(_ keyword: String, _ accepts: (Double) -> Bool) {
            guard let bound = node[keyword]?.double, !accepts(bound) else { return }
            faults.append("\(path): the number contradicts \(keyword) \(node[keyword]?.json ?? "")")
        }
        let isAbove = node["exclusiveMinimum"]?.bool == true
        let isBelow = node["exclusiveMaximum"]?.bool == true
        check("minimum") { isAbove ? value > $0 : value >= $0 }
        check("maximum") { isBelow ? value < $0 : value <= $0 }
        check("exclusiveMinimum") { value > $0 }
        check("exclusiveMaximum") { value < $0 }
        check("multipleOf") { step in
            step <= 0 || abs(value - (value / step).rounded() * step) <= abs(value) * 1e-12
        }
        return faults
    }

    private func itemFaults(
        of items: [Node], _ schema: Schema, _ path: String, _ depth: Int
    ) -> [String] {
        let node = schema.node
        var faults: [String] = []
        if let minimum = node["minItems"]?.int, items.count < minimum {
            faults.append("\(path): the list has fewer than \(minimum) items")
        }
        if let maximum = node["maxItems"]?.int, items.count > maximum {
            faults.append("\(path): the list has more than \(maximum) items")
        }
        if node["uniqueItems"]?.bool == true {
            let isRepeated = items.indices.contains { position in
                items[..<position].contains { Self.areEqual($0, items[position]) }
            }
            if isRepeated { faults.append("\(path): an item is repeated") }
        }
        guard let inner = schema.items, !schema.hasPositions else { return faults }
        for (position, item) in items.enumerated() {
            faults += self.faults(of: item, inner, at: "\(path)[\(position)]", depth: depth + 1)
        }
        return faults
    }

    private func memberFaults(
        of members: Node.Members, _ schema: Schema, _ path: String, _ depth: Int
    ) -> [String] {
        var faults: [String] = []
        for name in schema.required.sorted() where members[name] == nil {
            let property = schema.properties.first { $0.name == name }?.schema
            // A service does not require what a client must not send.
            let isReadOnly = property.map {
                $0.isReadOnly || (schemas.target(of: $0)?.isReadOnly ?? false)
            }
            if isReadOnly != true { faults.append("\(path): the member \(name) is missing") }
        }
        for (name, property) in schema.properties {
            guard let value = members[name] else { continue }
            faults += self.faults(of: value, property, at: "\(path).\(name)", depth: depth + 1)
        }
        if let minimum = schema.node["minProperties"]?.int, members.list.count < minimum {
            faults.append("\(path): the object has fewer than \(minimum) members")
        }
        if let maximum = schema.node["maxProperties"]?.int, members.list.count > maximum {
            faults.append("\(path): the object has more than \(maximum) members")
        }
        guard schema.node["patternProperties"] == nil else { return faults }
        let known = Set(schema.properties.map(\.name))
        for (name, value) in members.list where !known.contains(name) {
            switch schema.additional {
            case .unspecified, .allowed: break
            case .forbidden: faults.append("\(path): the member \(name) is not allowed")
            case .schema(let inner):
                faults += self.faults(of: value, inner, at: "\(path).\(name)", depth: depth + 1)
            }
        }
        return faults
    }

    private func combinationFaults(
        of value: Node, _ schema: Schema, _ path: String, _ depth: Int
    ) -> [String] {
        var faults = schema.allOf.flatMap {
            self.faults(of: value, $0, at: path, depth: depth + 1)
        }
        for keyword in ["oneOf", "anyOf"] {
            guard let items = schema.node[keyword]?.items else { continue }
            let place = schema.place.child(keyword)
            let count = items.indices.count { position in
                accepts(value, schemas.schema(at: place.child(position)), depth)
            }
            if count == 0 { faults.append("\(path): the value matches none of \(keyword)") }
            if count > 1, keyword == "oneOf", schema.discriminator == nil {
                faults.append("\(path): the value matches \(count) schemas of oneOf")
            }
        }
        if schema.node["not"] != nil,
            accepts(value, schemas.schema(at: schema.place.child("not")), depth)
        {
            faults.append("\(path): the value matches the schema of not")
        }
        return faults
    }

    /// Whether two values are equal as JSON Schema says: numbers by their value, members in any order.
    static func areEqual(_ left: Node, _ right: Node) -> Bool {
        switch (left.value, right.value) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right || Double(left) == Double(right)
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
        case (.object(let left), .object(let right)):
            left.list.count == right.list.count
                && left.list.allSatisfy { key, value in
                    right[key].map { areEqual(value, $0) } ?? false
                }
        default: false
        }
    }
}
