/// Writes models.
struct DeclarationWriter {
    let names: TypeNames
    /// `public `, `package `, or empty.
    let access: String

    /// Writes a type with those in it.
    func write(_ declaration: Declaration, to text: inout Text) {
        text.separate()
        text.document(declaration.text, fallback: access.isEmpty ? nil : fallback(of: declaration))
        let owner = names.planner.owner(of: declaration) ?? declaration.owner
        let isolation = declaration.owner == nil ? "nonisolated " : ""
        switch declaration.body {
        case .structure(let structure):
            text.type("\(isolation)\(access)struct \(declaration.name)", ["Codable", "Sendable"]) {
                writeStructure(structure, declaration, owner, to: &$0)
                writeNested(declaration, to: &$0)
            }
        case .enumeration(let enumeration):
            write(enumeration, declaration, isolation, to: &text)
        case .union(let union):
            let indirect = union.isIndirect ? "indirect " : ""
            text.type(
                "\(isolation)\(access)\(indirect)enum \(declaration.name)", ["Codable", "Sendable"]
            ) {
                writeUnion(union, owner, to: &$0)
                writeNested(declaration, to: &$0)
            }
        }
    }

    private func fallback(of declaration: Declaration) -> String {
        if declaration.owner?.isEndpoint ?? false {
            switch declaration.name {
            case "Output": return "The JSON of the response."
            case "Content": return "The JSON of the body."
            default: break
            }
        }
        return "The schema `\(declaration.key.place.name)`."
    }

    private func writeNested(_ declaration: Declaration, to text: inout Text) {
        guard declaration.owner == nil, let owner = names.planner.owner(of: declaration) else {
            return
        }
        for nested in owner.nested { write(nested, to: &text) }
    }

    // MARK: - Structures

    private func type(_ property: Declaration.Property, _ owner: Owner?) -> String {
        let name = names.name(property.type, in: owner)
        let type = property.isIndirect ? "Indirect<\(name)>" : name
        return property.isOptional ? type + "?" : type
    }

    private func writeStructure(
        _ structure: Declaration.Structure, _ declaration: Declaration, _ owner: Owner?,
        to text: inout Text
    ) {
        let writesNull = declaration.isOfRequests && structure.properties.contains { $0.writesNull }
        for property in structure.properties {
            // An attribute would warn in an initializer and in coding that are written.
            let isWritten = !access.isEmpty || structure.additional != nil || writesNull
            let notice = property.isDeprecated && isWritten ? "Deprecated." : nil
            text.document(
                [property.text, notice].compactMap { $0 }.joined(separator: "\n\n"),
                fallback: access.isEmpty ? nil : "The member `\(property.key)`.")
            if property.isDeprecated, !isWritten { text.add("@available(*, deprecated)") }
            let name = SwiftName.escaped(property.name)
            let value = property.value.map { " = \($0)" } ?? ""
            text.pair("\(access)var \(name):", type(property, owner) + value)
        }
        if let additional = structure.additional {
            text.document("The members without a property.")
            text.pair(
                "\(access)var additionalProperties:",
                "[String: \(names.name(additional, in: owner))] = [:]")
        }
        writeKeys(structure, to: &text)
        // A structure that reads itself has no initializer of its members.
        if !access.isEmpty || structure.additional != nil {
            writeInitializer(structure, owner, to: &text)
        }
        if let additional = structure.additional {
            writeOpenCoding(structure, names.name(additional, in: owner), owner, to: &text)
        } else if writesNull {
            writeEncoding(structure, to: &text)
        }
    }

    private func writeKeys(_ structure: Declaration.Structure, to text: inout Text) {
        let isNeeded = structure.properties.contains { $0.name != $0.key }
        guard isNeeded || structure.additional != nil, !structure.properties.isEmpty else { return }
        text.separate()
        let visibility = structure.additional == nil && access.isEmpty ? "" : "private "
        let iterable = structure.additional == nil ? "" : ", CaseIterable"
        text.block("\(visibility)enum CodingKeys: String, CodingKey\(iterable)") { text in
            var plain: [String] = []
            func flush(_ text: inout Text) {
                guard !plain.isEmpty else { return }
                text.add("case " + plain.joined(separator: ", "))
                plain = []
            }
            for property in structure.properties {
                let name = SwiftName.escaped(property.name)
                if property.name == property.key {
                    if !text.fits("case " + (plain + [name]).joined(separator: ", ")) {
                        flush(&text)
                    }
                    plain.append(name)
                } else {
                    flush(&text)
                    text.pair("case \(name) =", Text.literal(property.key))
                }
            }
            flush(&text)
        }
    }

    private func writeInitializer(
        _ structure: Declaration.Structure, _ owner: Owner?, to text: inout Text
    ) {
        text.separate()
        if !access.isEmpty { text.document("Creates a value.") }
        var parameters = structure.properties.map { property in
            let value = property.value ?? (property.isOptional ? "nil" : nil)
            return "\(SwiftName.escaped(property.name)): \(type(property, owner))"
                + (value.map { " = \($0)" } ?? "")
        }
        if let additional = structure.additional {
            parameters.append(
                "additionalProperties: [String: \(names.name(additional, in: owner))] = [:]")
        }
        text.list("\(access)init(", parameters, ") {")
        text.indented { text in
            for property in structure.properties {
                let name = SwiftName.escaped(property.name)
                text.pair("self.\(property.name) =", name)
            }
            if structure.additional != nil {
                text.add("self.additionalProperties = additionalProperties")
            }
        }
        text.add("}")
    }

    /// Writes the coding of an object that keeps members without a property.
    private func writeOpenCoding(
        _ structure: Declaration.Structure, _ additional: String, _ owner: Owner?,
        to text: inout Text
    ) {
        let known = structure.properties.isEmpty ? "[]" : "CodingKeys.allCases.map(\\.rawValue)"
        text.separate()
        if !access.isEmpty { text.document("Reads an object.") }
        text.block("\(access)init(from decoder: any Decoder) throws") { text in
            if !structure.properties.isEmpty {
                text.add("let container = try decoder.container(keyedBy: CodingKeys.self)")
            }
            for property in structure.properties {
                let name = names.name(property.type, in: owner)
                let type = property.isIndirect ? "Indirect<\(name)>" : name
                let call = property.isOptional ? "decodeIfPresent" : "decode"
                text.list(
                    "\(Self.member(property)) = try container.\(call)(",
                    ["\(type).self", "forKey: .\(property.name)"], ")")
            }
            text.list(
                "additionalProperties = try MemberKey.members(",
                ["of: decoder", "besides: \(known)"], ")")
        }
        text.separate()
        if !access.isEmpty { text.document("Writes an object.") }
        text.block("\(access)func encode(to encoder: any Encoder) throws") { text in
            writeMembers(structure, to: &text)
            text.add("try MemberKey.encode(additionalProperties, to: encoder)")
        }
    }

    /// A member in its coding, which has variables of its own.
    private static func member(_ property: Declaration.Property) -> String {
        let isVariable = ["container", "decoder", "encoder"].contains(property.name)
        return isVariable ? "self.\(property.name)" : SwiftName.escaped(property.name)
    }

    private func writeEncoding(_ structure: Declaration.Structure, to text: inout Text) {
        text.separate()
        if !access.isEmpty {
            text.document("Writes an object, in which required members may be null.")
        }
        text.block("\(access)func encode(to encoder: any Encoder) throws") {
            writeMembers(structure, to: &$0)
        }
    }

    private func writeMembers(_ structure: Declaration.Structure, to text: inout Text) {
        guard !structure.properties.isEmpty else { return }
        text.add("var container = encoder.container(keyedBy: CodingKeys.self)")
        for property in structure.properties {
            let call = property.isOptional && !property.writesNull ? "encodeIfPresent" : "encode"
            text.list(
                "try container.\(call)(", [Self.member(property), "forKey: .\(property.name)"], ")")
        }
    }

    // MARK: - Enumerations

    private func write(
        _ enumeration: Declaration.Enumeration, _ declaration: Declaration, _ isolation: String,
        to text: inout Text
    ) {
        let head = "\(isolation)\(access)struct \(declaration.name)"
        let protocols = ["RawRepresentable", "Hashable", "Codable", "Sendable", "ArgumentValue"]
        text.type(head, protocols) { text in
            if !access.isEmpty { text.document("The value in a document.") }
            text.add("\(access)var rawValue: \(enumeration.isInteger ? "Int" : "String")")
            if !access.isEmpty {
                text.separate()
                text.document("Creates a value, also one that the document does not name.")
                text.getter(
                    "\(access)init(rawValue: \(enumeration.isInteger ? "Int" : "String"))",
                    "self.rawValue = rawValue")
            }
            text.separate()
            for item in enumeration.cases {
                if item.text != nil || !access.isEmpty {
                    text.document(
                        item.text, fallback: "The value `\(item.value.string ?? item.value.json)`.")
                }
                let literal =
                    item.value.string.map { Text.literal($0) } ?? item.value.int.map(String.init)
                    ?? "0"
                let name = SwiftName.escaped(item.name)
                text.list("\(access)static let \(name) = Self(", ["rawValue: \(literal)"], ")")
            }
        }
    }

    // MARK: - Unions

    private func writeUnion(_ union: Declaration.Union, _ owner: Owner?, to text: inout Text) {
        for item in union.cases {
            text.document(item.text, fallback: access.isEmpty ? nil : "One of the kinds of values.")
            text.list(
                "case \(SwiftName.escaped(item.name))(", [names.name(item.type, in: owner)], ")")
        }
        text.document("A value that the document does not describe.")
        text.add("case other(JSON)")
        text.separate()
        if let discriminator = union.discriminator {
            text.add(
                "private enum CodingKeys: String, CodingKey { case "
                    + SwiftName.escaped(discriminator.name)
                    + (discriminator.name == discriminator.key
                        ? "" : " = \(Text.literal(discriminator.key))") + " }")
            text.separate()
        }
        if !access.isEmpty { text.document("Reads a value.") }
        text.block("\(access)init(from decoder: any Decoder) throws") { text in
            if let discriminator = union.discriminator {
                writeChoice(union, discriminator, owner, to: &text)
            } else {
                writeAttempts(union, owner, to: &text)
            }
        }
        text.separate()
        if !access.isEmpty { text.document("Writes the value.") }
        text.block("\(access)func encode(to encoder: any Encoder) throws") { text in
            // The strategies for dates and data apply in a container.
            let isDirect = union.discriminator != nil
            if !isDirect { text.add("var container = encoder.singleValueContainer()") }
            text.add("switch self {")
            for name in union.cases.map(\.name) + ["other"] {
                text.pair(
                    "case .\(name)(let value):",
                    isDirect ? "try value.encode(to: encoder)" : "try container.encode(value)")
            }
            text.add("}")
        }
    }

    private func writeChoice(
        _ union: Declaration.Union, _ discriminator: (key: String, name: String, isInteger: Bool),
        _ owner: Owner?, to text: inout Text
    ) {
        text.add("let container = try decoder.container(keyedBy: CodingKeys.self)")
        let type = discriminator.isInteger ? "Int" : "String"
        text.list(
            "switch try container.decodeIfPresent(",
            ["\(type).self", "forKey: .\(discriminator.name)"], ") {")
        for item in union.cases {
            let values = item.values.map { value in
                value.string.map { Text.literal($0) } ?? value.int.map(String.init) ?? "nil"
            }
            let name = names.name(item.type, in: owner)
            let start = "self = .\(item.name)("
            let value = "try \(name)(from: decoder)"
            let head = "case \(values.joined(separator: ", ")):"
            if text.fits("\(head) \(start)\(value))") {
                text.add("\(head) \(start)\(value))")
                continue
            }
            if text.fits(head) {
                text.add(head)
            } else {
                text.list("case", values, ":")
            }
            text.indented { text in
                if text.fits("    \(value))") {
                    text.list(start, [value], ")")
                    return
                }
                text.add(start)
                text.indented { $0.list("try \(name)(", ["from: decoder"], "))") }
            }
        }
        text.add("default: self = .other(try JSON(from: decoder))")
        text.add("}")
    }

    private func writeAttempts(_ union: Declaration.Union, _ owner: Owner?, to text: inout Text) {
        guard !union.cases.isEmpty else {
            text.add("self = .other(try JSON(from: decoder))")
            return
        }
        text.add("let container = try decoder.singleValueContainer()")
        var cases = union.cases
        let objects = names.planner.rivals(union)
        if !objects.isEmpty {
            // The single values and lists before the objects, and what is tried after them.
            let end = cases.firstIndex { $0.name == objects[0].item.name } ?? 0
            for item in cases[..<end] {
                writeAttempt(item, owner, to: &text)
            }
            writeRivals(objects, owner, to: &text)
            cases.removeFirst(end + objects.count)
        }
        guard !cases.isEmpty else {
            text.add("self = .other(try container.decode(JSON.self))")
            return
        }
        for (position, item) in cases.enumerated() {
            let name = names.name(item.type, in: owner)
            let word = position == 0 ? "if" : "} else if"
            let line = "\(word) let value = try? container.decode(\(name).self) {"
            if text.fits(line) {
                text.add(line)
            } else {
                text.add("\(word) let value = try? container.decode(")
                text.indented { $0.add("\(name).self)") }
                text.add("{")
            }
            text.indented { $0.add("self = .\(item.name)(value)") }
        }
        text.add("} else {")
        text.indented { $0.add("self = .other(try container.decode(JSON.self))") }
        text.add("}")
    }

    /// Writes an attempt to read one variant.
    private func writeAttempt(
        _ item: Declaration.Union.Case, _ owner: Owner?, to text: inout Text
    ) {
        let name = names.name(item.type, in: owner)
        let line = "if let value = try? container.decode(\(name).self) {"
        if text.fits(line) {
            text.add(line)
        } else {
            text.add("if let value = try? container.decode(")
            text.indented { $0.add("\(name).self)") }
            text.add("{")
        }
        text.indented { text in
            text.list("self = .\(item.name)(", ["value"], ")")
            text.add("return")
        }
        text.add("}")
    }

    /// Writes the attempts to read objects: those first that know most members.
    private func writeRivals(
        _ objects: [(item: Declaration.Union.Case, keys: [String])], _ owner: Owner?,
        to text: inout Text
    ) {
        text.add("// The variants with the names of most members come first.")
        text.add("let names: [[String]] = [")
        text.indented { text in
            for (_, keys) in objects {
                let literals = keys.map { Text.literal($0) }
                let line = "[\(literals.joined(separator: ", "))],"
                if text.fits(line) || keys.isEmpty {
                    text.add(line)
                    continue
                }
                text.add("[")
                text.indented { text in
                    var line = ""
                    for literal in literals {
                        if !line.isEmpty, !text.fits("\(line) \(literal),") {
                            text.add(line)
                            line = ""
                        }
                        line += (line.isEmpty ? "" : " ") + literal + ","
                    }
                    text.add(line)
                }
                text.add("],")
            }
        }
        text.add("]")
        text.block("for variant in try container.decode(JSON.self).order(ofVariants: names)") {
            text in
            text.add("switch variant {")
            for (position, object) in objects.enumerated() {
                text.add(position + 1 < objects.count ? "case \(position):" : "default:")
                text.indented { writeAttempt(object.item, owner, to: &$0) }
            }
            text.add("}")
        }
    }
}
