/// Divides the output into files.
struct SourceWriter {
    let plan: Plan
    let options: Generator.Options

    private var access: String {
        options.access == .internal ? "" : options.access.rawValue + " "
    }

    func files() -> [(name: String, text: String)] {
        let names = TypeNames(planner: plan.types)
        let models = DeclarationWriter(names: names, access: access)
        let endpoints = EndpointWriter(
            names: names, declarations: models, service: plan.service, access: access,
            commonError: plan.commonError, agents: plan.agents)
        var files: [(name: String, text: String)] = []
        files.append(
            (
                "\(plan.service).swift",
                text { text in
                    ServiceWriter(
                        api: plan.api, service: plan.service, access: access, names: names,
                        commonError: plan.commonError, agents: plan.agents,
                        servers: plan.endpoints.filter { !$0.sendsNoCredentials }
                            .compactMap(\.server),
                        hasFields: plan.endpoints.contains {
                            if case .fields = $0.body { true } else { false }
                        }
                    ).write(to: &text)
                }
            ))
        for (name, group) in groups() {
            files.append(
                (
                    name,
                    text { text in
                        for endpoint in group { endpoints.write(endpoint, to: &text) }
                    }
                ))
        }
        let top = plan.types.top.sorted { $0.name < $1.name }
        if options.files == .one {
            if !top.isEmpty {
                files.append(
                    (
                        "Models.swift",
                        text { text in
                            for declaration in top { models.write(declaration, to: &text) }
                        }
                    ))
            }
        } else {
            for declaration in top {
                files.append(
                    (
                        "Models/\(declaration.name).swift",
                        text {
                            models.write(declaration, to: &$0)
                        }
                    ))
            }
        }
        let parts = supportParts()
        if !parts.isEmpty {
            files.append(
                (
                    "\(plan.service)Support.swift",
                    text {
                        SupportWriter.write(parts, access, to: &$0)
                    }
                ))
        }
        if !plan.schemaLines.isEmpty {
            files.append(("\(plan.service)Schemas.swift", text { schemas(to: &$0) }))
        }
        return unique(files)
    }

    private func schemas(to text: inout Text) {
        text.document("The schemas of the document, for the validators of the endpoints.")
        text.block("nonisolated enum \(plan.service)Schemas") { text in
            text.document("The shape of a schema; `nil` for an unknown name.")
            text.block("static func shape(_ name: String) -> JSONShape?") {
                $0.add(##"try? JSONShape(jsonSchema: ["$ref": JSON("#/\(name)")], in: document)"##)
            }
            text.separate()
            text.add("private static let document = SchemaDocument(")
            text.indented { $0.add("(try? JSON(parsing: text)) ?? .absent)") }
            text.separate()
            text.add("private static let text = #\"\"\"")
            text.indented { text in
                text.add("{")
                for line in plan.schemaLines {
                    for part in Self.wrapped(line) { text.add(part) }
                }
                text.add("}")
                text.add("\"\"\"#")
            }
        }
    }

    /// JSON in lines that are short enough, divided between values.
    private static func wrapped(_ json: String) -> [String] {
        var lines: [String] = []
        var line = ""
        var rest = ""
        var isInString = false
        var isEscaped = false
        for character in json {
            rest.append(character)
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isInString = false
                }
                continue
            }
            if character == "\"" { isInString = true }
            guard ",{}[]:".contains(character) else { continue }
            if !line.isEmpty, line.count + rest.count > 88 {
                lines.append(line)
                line = ""
            }
            line += rest
            rest = ""
        }
        line += rest
        if !line.isEmpty { lines.append(line) }
        return lines.map(\.trimmingSpaces)
    }

    /// Responses for tests.
    func mocks() -> [(name: String, text: String)] {
        var content = Text()
        for endpoint in plan.endpoints {
            content.separate()
            if endpoint.operation.isDeprecated { content.add("@available(*, deprecated)") }
            content.block("extension \(endpoint.name)") { text in
                text.document(
                    "A response with an example of the document, or with a value of its schema.")
                let status = endpoint.operation.responses.first(where: \.isSuccess)?.status ?? "200"
                let code = Int(status) ?? 200
                guard let sample = endpoint.sample else {
                    text.getter(
                        "static var mock: ScriptedResponse",
                        "ScriptedResponse(status: HTTPResponse.Status(code: \(code)))")
                    return
                }
                text.block("static var mock: ScriptedResponse") { text in
                    text.add(".json(")
                    text.indented { text in
                        text.add("#\"\"\"")
                        for line in Self.wrapped(sample) { text.add(line) }
                        text.add("\"\"\"#" + (code == 200 ? ")" : ","))
                        if code != 200 { text.add("status: HTTPResponse.Status(code: \(code)))") }
                    }
                }
            }
        }
        let module = options.module ?? plan.service
        let head =
            "// Generated by errand-openapi. Do not edit.\n\nimport Errand\nimport ErrandTesting\n\n"
        return [
            ("\(plan.service)Mocks.swift", head + "@testable import \(module)\n\n" + content.text)
        ]
    }

    /// A file with its imports.
    private func text(_ body: (inout Text) -> Void) -> String {
        var content = Text()
        body(&content)
        let text = content.text
        var head =
            "// Generated by errand-openapi from \(plan.api.title.isEmpty ? "a document" : plan.api.title). Do not edit.\n\n"
        head += Self.imported("Errand", by: text, access, Self.errandTypes) ?? "import Errand\n"
        head += Self.imported("Foundation", by: text, access, ["Date", "Data", "UUID"]) ?? ""
        return head + "\n" + text
    }

    private static let errandTypes: Set<String> = [
        "JSON", "ArgumentValue", "Arguments", "BaseRequest", "RequestAgent", "EndpointURL",
        "HTTPBody",
        "ResponseStream", "RequestError", "Authenticator",
    ]

    /// The import of a module whose types the text uses, public if public declarations do; `nil` for no use.
    private static func imported(
        _ module: String, by text: String, _ access: String, _ types: Set<String>
    ) -> String? {
        let lines = text.split(separator: "\n").filter { line in
            !line.drop { $0 == " " }.hasPrefix("//")
        }
        func use(_ line: Substring) -> Bool {
            line.split { !$0.isLetter && !$0.isNumber }.contains { types.contains(String($0)) }
        }
        guard lines.contains(where: use) else { return nil }
        let isPublic = lines.contains { line in
            // The cases of a public enumeration, and the parameters of a function on lines of their own.
            let isOfPublic =
                line.contains("public ") || line.contains("open ") || line.contains("case ")
            return !access.isEmpty && (isOfPublic || !line.contains("=")) && use(line)
        }
        return isPublic && text.contains("public ")
            ? "public import \(module)\n" : "import \(module)\n"
    }

    private func groups() -> [(name: String, endpoints: [Endpoint])] {
        switch options.files {
        case .one: return plan.endpoints.isEmpty ? [] : [("Endpoints.swift", plan.endpoints)]
        case .operation:
            return plan.endpoints.map { ("Endpoints/\($0.name).swift", [$0]) }
        case .tag:
            var groups: [(name: String, endpoints: [Endpoint])] = []
            for endpoint in plan.endpoints {
                let file = endpoint.operation.tags.first.map(SwiftName.type) ?? endpoint.name
                let name = "Endpoints/\(file).swift"
                if let position = groups.firstIndex(where: {
                    $0.name.lowercased() == name.lowercased()
                }) {
                    groups[position].endpoints.append(endpoint)
                } else {
                    groups.append((name, [endpoint]))
                }
            }
            return groups
        }
    }

    /// Files whose names differ, also in their last part: a module cannot have two of one name.
    private func unique(_ files: [(name: String, text: String)]) -> [(name: String, text: String)] {
        var taken: Set<String> = []
        return files.map { name, text in
            let folder = name.split(separator: "/").dropLast().map { $0 + "/" }.joined()
            let base = (name.split(separator: "/").last ?? "").dropLast(".swift".count)
            var file = String(base)
            if !taken.insert(file.lowercased()).inserted {
                let word = folder == "Endpoints/" ? "Endpoints" : "Model"
                file += word
                var number = 2
                while !taken.insert(file.lowercased()).inserted {
                    file = "\(base)\(word)\(number)"
                    number += 1
                }
            }
            return ("\(folder)\(file).swift", text)
        }
    }

    private func supportParts() -> Set<SupportWriter.Part> {
        var parts: Set<SupportWriter.Part> = []
        if plan.types.usesFullDate { parts.insert(.fullDate) }
        for declaration in plan.types.declarations.values {
            if case .union(let union) = declaration.body, !plan.types.rivals(union).isEmpty {
                parts.insert(.variants)
            }
            guard case .structure(let structure) = declaration.body else { continue }
            if structure.additional != nil { parts.insert(.members) }
            if structure.properties.contains(where: \.isIndirect) { parts.insert(.indirect) }
        }
        for endpoint in plan.endpoints {
            if endpoint.events != nil, !endpoint.hasTextEvents { parts.insert(.events) }
            if case .multipart(let fields) = endpoint.body,
                fields.contains(where: { $0.property.type.element == .binary })
            {
                parts.insert(.parts)
            }
            parts.formUnion(parameterParts(endpoint))
        }
        return parts
    }

    private func parameterParts(_ endpoint: Endpoint) -> Set<SupportWriter.Part> {
        var parts: Set<SupportWriter.Part> = []
        func add(_ part: SupportWriter.Part?, _ property: Endpoint.Property) {
            if let part { parts.insert(part) }
            if property.type != .builtin("JSON") { parts.insert(.json) }
        }
        var arguments = endpoint.arguments + endpoint.headers + endpoint.cookies
        if case .fields(let fields) = endpoint.body { arguments += fields }
        for argument in arguments {
            switch argument.form {
            case .json: add(nil, argument.property)
            case .indexed: add(.positions, argument.property)
            case .alternating, .pairs: add(.lists, argument.property)
            case .nested where isUnion(argument.property.type): add(nil, argument.property)
            case .plain, .joined, .nested, .members: continue
            }
        }
        for case .value(let property, let form, _) in endpoint.url {
            switch form {
            case .json: add(nil, property)
            case .alternating: add(.lists, property)
            case .pairs: add(.paths, property)
            case .plain, .joined, .nested, .indexed, .members: continue
            }
        }
        return parts
    }

    private func isUnion(_ type: SwiftType) -> Bool {
        guard case .declared(let key) = type.element,
            case .union? = plan.types.declarations[key]?.body
        else { return false }
        return true
    }
}
