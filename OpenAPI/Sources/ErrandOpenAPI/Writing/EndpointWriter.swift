/// Writes endpoint classes.
struct EndpointWriter {
    let names: TypeNames
    let declarations: DeclarationWriter
    let service: String
    let access: String
    /// The error type of the base class.
    let commonError: SwiftType?
    /// The names of the agents.
    let agents: [String]

    func write(_ endpoint: Endpoint, to text: inout Text) {
        text.separate()
        let operation = endpoint.operation
        text.document(
            document(of: operation) + note(about: endpoint),
            fallback: "\(operation.method.uppercased()) `\(operation.path)`.")
        if operation.isDeprecated { text.add("@available(*, deprecated)") }
        let output = output(of: endpoint)
        let superclasses = ["\(service)Request"] + output.protocols
        text.type("\(access)final class \(endpoint.name)", superclasses) { text in
            if let alias = output.alias {
                if !access.isEmpty { text.document("The JSON of the response.") }
                text.pair("\(access)typealias Output =", alias)
            }
            writeOutputs(endpoint, to: &text)
            for nested in endpoint.owner.nested { declarations.write(nested, to: &text) }
            writeProperties(endpoint, to: &text)
            text.separate()
            writeAgent(endpoint, to: &text)
            writeURL(endpoint, to: &text)
            writeMethod(endpoint, to: &text)
            writeArguments(endpoint, to: &text)
            writeHeaders(endpoint, to: &text)
            writeBody(endpoint, to: &text)
            if let decoder = output.decoder {
                if !access.isEmpty { text.document("Reads the body of the response.") }
                text.getter("\(access)var decoder: \(decoder.type)", decoder.value)
            }
            writeStatusDecoder(endpoint, to: &text)
            writeShapes(endpoint, to: &text)
            writeErrors(endpoint, to: &text)
            writeConfigure(endpoint, to: &text)
            writeStreams(endpoint, to: &text)
            writePages(endpoint, to: &text)
        }
    }

    /// The summary and the description, unless they say the same.
    private func document(of operation: Operation) -> String {
        func sentence(_ text: String?) -> String {
            let text = (text ?? "").trimmingSpaces
            return text.isEmpty || text.hasSuffix(".") || text.hasSuffix(">") ? text : text + "."
        }
        let summary = sentence(operation.summary)
        let description = (operation.text ?? "").trimmingSpaces
        // Tools make summaries of the names of functions, and the description begins with the same words.
        let first = description.prefix { $0 != "\n" }
        if sentence(String(first)).lowercased() == summary.lowercased() { return description }
        return [summary, description].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private func note(about endpoint: Endpoint) -> String {
        let accepted = endpoint.operation.responses.first {
            $0.status == "202" && $0.hasLocationHeader
        }
        guard accepted != nil else { return "" }
        return
            "\n\nThe status 202 means that the result is not ready: its `Location` names where it will be."
    }

    // MARK: - Output

    private func output(
        of endpoint: Endpoint
    ) -> (protocols: [String], alias: String?, decoder: (type: String, value: String)?) {
        switch endpoint.output {
        case .none:
            return endpoint.events == nil && endpoint.lines == nil
                ? (["VoidOutput"], nil, nil) : ([], nil, nil)
        case .json(let type, let isOptional):
            let name = names.name(type, in: endpoint.owner)
            if name == "Output" { return (["DecodableOutput"], nil, nil) }
            return (["DecodableOutput"], isOptional ? name + "?" : name, nil)
        case .text: return (["TypedRequest"], nil, ("ResponseDecoder<String>", ".string"))
        case .data: return (["TypedRequest"], nil, ("ResponseDecoder<Data>", ".data"))
        case .byStatus: return (["TypedRequest"], nil, nil)
        }
    }

    private func writeOutputs(_ endpoint: Endpoint, to text: inout Text) {
        guard case .byStatus(let outputs) = endpoint.output else { return }
        text.document("The response by status.")
        text.block("\(access)enum Output: Sendable") { text in
            for (status, output) in outputs {
                if !access.isEmpty { text.document("The status \(status).") }
                let name = Operation.Response.caseName(status)
                switch output {
                case .none: text.add("case \(name)")
                case .json(let type, let isOptional):
                    let type = names.name(type, in: endpoint.owner)
                    text.add("case \(name)(\(type)\(isOptional ? "?" : ""))")
                case .text: text.add("case \(name)(String)")
                case .data: text.add("case \(name)(Data)")
                }
            }
        }
    }

    private func writeStatusDecoder(_ endpoint: Endpoint, to text: inout Text) {
        guard case .byStatus(let outputs) = endpoint.output else { return }
        if !access.isEmpty { text.document("Reads the body of the response, by its status.") }
        text.block("\(access)var decoder: ResponseDecoder<Output>") { text in
            text.block("ResponseDecoder { response in", closing: "}") { text in
                text.add("switch response.statusCode {")
                for (position, (status, output)) in outputs.enumerated() {
                    let isLast = position + 1 == outputs.count
                    let pattern = isLast ? "default" : "case \(Self.pattern(status))"
                    let name = Operation.Response.caseName(status)
                    switch output {
                    case .none: text.add("\(pattern): .\(name)")
                    case .json(let type, let isOptional):
                        let type = names.name(type, in: endpoint.owner) + (isOptional ? "?" : "")
                        text.add("\(pattern): .\(name)(try response.decode(\(type).self))")
                    case .text: text.add("\(pattern): .\(name)(response.string ?? \"\")")
                    case .data: text.add("\(pattern): .\(name)(response.data)")
                    }
                }
                text.add("}")
            }
        }
    }

    private static func pattern(_ status: String) -> String {
        if let digit = status.first.flatMap({ Int(String($0)) }),
            status.uppercased().hasSuffix("XX")
        {
            return "\(digit)00...\(digit)99"
        }
        return Int(status).map(String.init) ?? "_"
    }

    // MARK: - Properties

    private func type(_ property: Endpoint.Property, _ endpoint: Endpoint) -> String {
        let type = property.special ?? names.name(property.type, in: endpoint.owner)
        return property.isOptional ? type + "?" : type
    }

    private func writeProperties(_ endpoint: Endpoint, to text: inout Text) {
        guard !endpoint.properties.isEmpty else {
            if !access.isEmpty {
                text.separate()
                text.document("Creates a request.")
                text.add("\(access)override init() {}")
            }
            return
        }
        text.separate()
        for property in endpoint.properties {
            // An attribute would warn in the initializer.
            let notice = property.isDeprecated ? "Deprecated." : nil
            let all = [property.text, notice].compactMap { $0 }.joined(separator: "\n\n")
            text.document(all, fallback: access.isEmpty ? nil : "The parameter `\(property.name)`.")
            text.pair("\(access)let \(SwiftName.escaped(property.name)):", type(property, endpoint))
        }
        text.separate()
        if !access.isEmpty { text.document("Creates a request.") }
        let parameters = endpoint.properties.map { property in
            "\(SwiftName.escaped(property.name)): \(type(property, endpoint))"
                + (property.isOptional ? " = nil" : property.value.map { " = \($0)" } ?? "")
        }
        text.list("\(access)init(", parameters, ") {")
        text.indented { text in
            for property in endpoint.properties {
                text.pair("self.\(property.name) =", SwiftName.escaped(property.name))
            }
        }
        text.add("}")
    }

    // MARK: - Request

    private func writeAgent(_ endpoint: Endpoint, to text: inout Text) {
        if endpoint.agent > 0 {
            text.getter(
                "\(access)override var agent: RequestAgent", "\(service).\(agents[endpoint.agent])")
        }
        if let server = endpoint.server {
            let url = ServiceWriter.defaultURL(of: server)
            if url.contains("://") {
                text.getter("\(access)override var baseURL: EndpointURL?", Text.literal(url))
            }
        }
    }

    private func writeURL(_ endpoint: Endpoint, to text: inout Text) {
        var url = ""
        for part in endpoint.url {
            switch part {
            case .text(let literal): url += Text.escaped(literal)
            case .value(let property, let form, let separator):
                url += "\\(\(urlValue(property, form, separator)))"
            }
        }
        text.getter("\(access)override var url: EndpointURL", "\"\(url)\"")
    }

    private func urlValue(
        _ property: Endpoint.Property, _ form: Endpoint.Argument.Form, _ separator: String
    ) -> String {
        let name = SwiftName.escaped(property.name)
        let literal = Text.literal(separator)
        switch (form, property.type) {
        case (.json, let type): return json(type, name)
        case (.alternating, let type): return "\(object(type, name)).list, separator: \(literal)"
        case (.pairs, let type): return "\(object(type, name)).path(separator: \(literal))"
        case (_, .array(let element)):
            let isText =
                if case .builtin(let type) = element {
                    !["Date", "Data", "UUID", "JSON"].contains(type)
                } else {
                    false
                }
            let list = isText ? name : "\(name).map { \(plain(element, "$0")) }"
            return "\(list), separator: \(literal)"
        case (_, .builtin("Date")), (_, .builtin("Data")):
            return names.text(property.type, name) ?? name
        case (_, .builtin("JSON")): return plain(property.type, name)
        default: return name
        }
    }

    /// The text of a value that is no object, or of a list of them with commas.
    private func plain(_ type: SwiftType, _ value: String) -> String {
        switch type {
        case .binary: value
        case .array(let element) where names.text(element, "$0") == nil:
            "\(value).map { \(plain(element, "$0")) }.joined(separator: \",\")"
        default: names.text(type, value) ?? "\(value).string ?? \(value).description"
        }
    }

    /// A value as JSON text.
    private func json(_ type: SwiftType, _ value: String) -> String {
        "\(object(type, value)).description"
    }

    /// A value as JSON.
    private func object(_ type: SwiftType, _ value: String) -> String {
        type == .builtin("JSON") ? value : "JSON(encoding: \(value))"
    }

    /// The text of a value that is not plain, as a function of it.
    private func text(
        _ argument: Endpoint.Argument, _ value: String
    ) -> String? {
        let type = argument.property.type
        switch argument.form {
        case .json: return json(type, value)
        case .indexed: return "\(object(type, value)).indexed"
        case .alternating(nil): return "\(object(type, value)).list"
        case .alternating(let separator?):
            return
                "\(object(type, value)).list.joined(separator: \(Text.literal(separator)))"
        case .pairs: return "\(object(type, value)).pairs.joined(separator: \",\")"
        case .plain, .joined, .nested, .members: return nil
        }
    }

    private func writeMethod(_ endpoint: Endpoint, to text: inout Text) {
        let method = endpoint.operation.method
        guard method != "get" else { return }
        let known = ["post", "put", "patch", "delete", "head", "options", "trace", "query"]
        let value =
            known.contains(method) && method != "query"
            ? ".\(method)" : Text.literal(method.uppercased())
        text.getter("\(access)override var method: HTTPMethod", value)
    }

    private func value(_ argument: Endpoint.Argument) -> String {
        let name = SwiftName.escaped(argument.property.name)
        switch argument.form {
        case .plain, .members: return name
        case .json, .indexed, .alternating, .pairs:
            guard argument.property.isOptional else { return text(argument, name) ?? name }
            return mapped(name, text(argument, "$0") ?? "$0")
        case .joined(let separator):
            let element: SwiftType =
                if case .array(let inner) = argument.property.type { inner } else {
                    argument.property.type
                }
            let text = plain(element, "$0")
            let mapped =
                text == "$0"
                ? name : "\(name)\(argument.property.isOptional ? "?" : "").map { \(text) }"
            let mark = argument.property.isOptional && text == "$0" ? "?" : ""
            return "\(mapped)\(mark).joined(separator: \(Text.literal(separator)))"
        case .nested:
            let mark = argument.property.isOptional ? "?" : ""
            switch argument.property.type {
            case .declared(let key):
                let value = nested(key, argument.property.isOptional ? "$0" : name)
                return argument.property.isOptional ? "\(name).map { \(value) }" : value
            case .array(.declared(let key)):
                return "\(name)\(mark).map { \(nested(key, "$0")) }"
            case .dictionary(let values) where !isArgument(values):
                return argument.property.isOptional
                    ? "\(name).map { Arguments(encoding: $0) }" : "Arguments(encoding: \(name))"
            case .array(let values) where !isArgument(values):
                return "\(name)\(mark).map { Arguments(encoding: $0) }"
            default: return name
            }
        }
    }

    /// A value of a type as an argument: the members of a structure, or a union, which may be a single value.
    private func nested(_ key: TypeKey, _ value: String) -> String {
        switch names.planner.declarations[key]?.body {
        case .union: "JSON(encoding: \(value))"
        case .enumeration: value
        default: "Arguments(encoding: \(value))"
        }
    }

    /// The label of the initializer of arguments for the members of a value.
    private func label(_ argument: Endpoint.Argument) -> String {
        guard case .dictionary(let values) = argument.property.type, isArgument(values) else {
            return "encoding"
        }
        return "dictionary"
    }

    /// Whether values of a type are arguments without being encoded.
    private func isArgument(_ type: SwiftType) -> Bool {
        switch type {
        case .builtin, .binary: true
        case .array(let inner), .dictionary(let inner), .optional(let inner): isArgument(inner)
        case .declared(let key):
            if case .enumeration? = names.planner.declarations[key]?.body { true } else { false }
        }
    }

    private func writeArguments(_ endpoint: Endpoint, to text: inout Text) {
        guard !endpoint.arguments.isEmpty else { return }
        write(endpoint.arguments, "\(access)override var arguments: Arguments?", to: &text)
    }

    /// Writes a property of arguments.
    private func write(_ arguments: [Endpoint.Argument], _ head: String, to text: inout Text) {
        let hasMembers = arguments.contains { if case .members = $0.form { true } else { false } }
        if arguments.count == 1, hasMembers {
            let (name, label) = (value(arguments[0]), label(arguments[0]))
            let isOptional = arguments[0].property.isOptional
            let members =
                isOptional
                ? "\(name).map { Arguments(\(label): $0) }" : "Arguments(\(label): \(name))"
            text.getter(
                head, isOptional && !head.hasSuffix("?") ? "\(members) ?? Arguments()" : members)
            return
        }
        let items = arguments.map { "\(Text.literal($0.name)): \(value($0))" }
        if !hasMembers, arguments.count <= 8 {
            let line = "[\(items.joined(separator: ", "))]"
            // The formatter leaves one column free.
            if text.fits("     " + line) {
                text.getter(head, line)
            } else {
                text.block(head) { text in
                    text.add("[")
                    text.indented { text in for item in items { text.addClosure(item, ",") } }
                    text.add("]")
                }
            }
            return
        }
        text.block(head) { text in
            text.add("var arguments = Arguments()")
            for argument in arguments {
                let value = value(argument)
                guard case .members = argument.form else {
                    text.list("arguments.append(", [Text.literal(argument.name), value], ")")
                    continue
                }
                let label = label(argument)
                if argument.property.isOptional {
                    text.block("if let \(value)") {
                        $0.add("arguments = arguments.merging(Arguments(\(label): \(value)))")
                    }
                } else {
                    text.add("arguments = arguments.merging(Arguments(\(label): \(value)))")
                }
            }
            text.add("return arguments")
        }
    }

    private func headerValue(_ argument: Endpoint.Argument) -> String {
        let property = argument.property
        let name = SwiftName.escaped(property.name)
        let value = property.isOptional ? "$0" : name
        let text = text(argument, value) ?? plain(property.type, value)
        guard property.isOptional else { return text }
        return text == "$0" ? name : mapped(name, text)
    }

    /// An optional value with an expression of `$0` applied to it.
    private func mapped(_ name: String, _ expression: String) -> String {
        let path = expression.dropFirst(2)
        let isPath = expression.hasPrefix("$0.") && !path.contains { "$( ".contains($0) }
        return isPath ? "\(name)?\(path)" : "\(name).map { \(expression) }"
    }

    private func writeHeaders(_ endpoint: Endpoint, to text: inout Text) {
        guard !endpoint.headers.isEmpty || !endpoint.cookies.isEmpty else { return }
        text.block("\(access)override var headers: HTTPFields") { text in
            text.add("var headers = super.headers")
            for header in endpoint.headers {
                text.assign(
                    "headers[.custom(\(Text.literal(header.name)))]", headerValue(header))
            }
            writeCookies(endpoint, to: &text)
            text.add("return headers")
        }
    }

    private func writeCookies(_ endpoint: Endpoint, to text: inout Text) {
        let pairs = endpoint.cookies.map { cookie in
            let property = cookie.property
            let own = SwiftName.escaped(property.name)
            let place = property.isOptional ? "$0" : own
            let pair: String
            if case .json = cookie.form {
                // JSON has characters that a cookie must not have, which a URL encodes.
                pair =
                    "(\"\(Text.escaped(cookie.name))=\\(\(json(property.type, place)))\" as EndpointURL)"
                    + ".description"
            } else {
                let value = self.text(cookie, place) ?? plain(property.type, place)
                let inner =
                    value.hasPrefix("\"") ? String(value.dropFirst().dropLast()) : "\\(\(value))"
                pair = "\"\(Text.escaped(cookie.name))=\(inner)\""
            }
            return property.isOptional ? "\(own).map { \(pair) }" : pair
        }
        guard pairs.count > 1 else {
            if let pair = pairs.first { text.assign("headers[.cookie]", pair) }
            return
        }
        var scope = NameScope(Set(endpoint.cookies.map(\.property.name)))
        let (cookies, cookie) = (
            scope.take("cookies", "allCookies"), scope.take("cookie", "cookieText")
        )
        let line = "let \(cookies): [String?] = [\(pairs.joined(separator: ", "))]"
        // The formatter leaves one column free.
        if text.fits(line + " ") {
            text.add(line)
        } else {
            text.add("let \(cookies): [String?] = [")
            text.indented { text in for pair in pairs { text.add(pair + ",") } }
            text.add("]")
        }
        let value = "\(cookies).compactMap { $0 }.joined(separator: \"; \")"
        if endpoint.cookies.contains(where: { !$0.property.isOptional }) {
            text.add("headers[.cookie] = \(value)")
        } else {
            text.add("let \(cookie) = \(value)")
            text.add("if !\(cookie).isEmpty { headers[.cookie] = \(cookie) }")
        }
    }

    private func writeBody(_ endpoint: Endpoint, to text: inout Text) {
        let head = "\(access)override var body: HTTPBody?"
        switch endpoint.body {
        case nil, .form: return
        case .fields(let fields):
            write(fields, "private var formFields: Arguments", to: &text)
            text.getter(head, ".form(formFields, encoding: \(service)Request.encoding)")
        case .json(let property, let contentType):
            let name = SwiftName.escaped(property.name)
            guard let contentType else {
                text.getter(
                    head, property.isOptional ? "\(name).map { .json($0) }" : ".json(\(name))")
                return
            }
            text.block(head) { text in
                if property.isOptional { text.add("guard let \(name) else { return nil }") }
                text.add("var body = HTTPBody.json(\(name))")
                text.add("body.contentType = \(Text.literal(contentType))")
                text.add("return body")
            }
        case .text(let property, let contentType):
            let name = SwiftName.escaped(property.name)
            let type = Text.literal(contentType)
            text.getter(
                head,
                property.isOptional
                    ? "\(name).map { .string($0, contentType: \(type)) }"
                    : ".string(\(name), contentType: \(type))")
        case .ready(let property): text.getter(head, SwiftName.escaped(property.name))
        case .parts(let property):
            text.getter(head, ".multipart(\(SwiftName.escaped(property.name)))")
        case .multipart(let fields):
            text.block(head) { text in
                text.add("var parts: [HTTPBody.Part] = []")
                for (name, property, contentType) in fields {
                    writePart(name, property, contentType, to: &text)
                }
                text.add("return .multipart(parts)")
            }
        }
    }

    private func writePart(
        _ key: String, _ property: Endpoint.Property, _ contentType: String?, to text: inout Text
    ) {
        let name = SwiftName.escaped(property.name)
        let key = Text.literal(key)
        let isList: Bool
        let element: SwiftType
        if case .array(let inner) = property.type {
            isList = true
            element = inner
        } else {
            isList = false
            element = property.type
        }
        let value = isList ? "item" : name
        let isJSON = contentType.map { $0.contains("json") } ?? false
        let part: String
        if element == .binary {
            part = "\(value).named(\(key))"
        } else if !isJSON, let string = names.text(element, value) {
            part = ".text(\(key), \(string))"
        } else {
            part = ".json(\(key), \(value))"
        }
        let head: String? =
            switch (isList, property.isOptional) {
            case (false, false): nil
            case (false, true): "if let \(name)"
            case (true, false): "for item in \(name)"
            case (true, true): "for item in \(name) ?? []"
            }
        let line = "parts.append(\(part))"
        guard let head else {
            text.add(line)
            return
        }
        if text.fits("\(head) { \(line) } ") {
            text.add("\(head) { \(line) }")
        } else {
            text.block(head) { $0.add(line) }
        }
    }

    private func writeShapes(_ endpoint: Endpoint, to text: inout Text) {
        func write(_ name: String, _ shape: String, _ text: inout Text) {
            text.list(
                "\(access)static let \(name) = \(service)Schemas.shape(", [Text.literal(shape)], ")"
            )
        }
        if let shape = endpoint.shape {
            text.separate()
            if !access.isEmpty { text.document("The shape of the response.") }
            write("shape", shape, &text)
            text.getter("\(access)override var validator: JSONShape?", "Self.shape")
        }
        if let shape = endpoint.bodyShape {
            text.separate()
            text.document("The shape of the body, to check it before a start.")
            write("bodyShape", shape, &text)
        }
    }

    // MARK: - Errors and settings

    private func writeErrors(_ endpoint: Endpoint, to text: inout Text) {
        let types = endpoint.errors.map(\.type).reduce(into: [SwiftType]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        guard let first = types.first, types != [commonError] else { return }
        let head = "\(access)override var errorDecoder: ErrorDecoder?"
        if types.count == 1 {
            text.getter(head, ".json(\(names.name(first, in: endpoint.owner)).self)")
            return
        }
        text.block(head) { text in
            text.block("ErrorDecoder { response in", closing: "}") { text in
                text.add("switch response.statusCode {")
                let hasDefault = endpoint.errors.contains { $0.status == "default" }
                let other = endpoint.errors.first { $0.status == "default" }?.type
                let ranges = endpoint.errors.filter { $0.status.uppercased().hasSuffix("XX") }
                let codes = endpoint.errors.filter {
                    $0.status != "default" && !$0.status.uppercased().hasSuffix("XX")
                }
                // A status with the type of `default` needs no case, unless a range would take it.
                let differing = ranges.filter { $0.type != other }
                let ordered =
                    codes.filter { $0.type != other || !differing.isEmpty } + differing
                    + endpoint.errors.filter { $0.status == "default" }
                for (status, type) in Self.grouped(ordered) {
                    let pattern = status == "default" ? "default" : "case \(status)"
                    text.add(
                        "\(pattern): try response.decode(\(names.name(type, in: endpoint.owner)).self)"
                    )
                }
                if !hasDefault { text.add("default: nil") }
                text.add("}")
            }
        }
    }

    /// The patterns of statuses, one for all that have a type; `default` for the last.
    private static func grouped(
        _ errors: [(status: String, type: SwiftType)]
    ) -> [(status: String, type: SwiftType)] {
        var groups: [(status: String, type: SwiftType)] = []
        for (status, type) in errors {
            let pattern = status == "default" ? status : Self.pattern(status)
            let isRange = pattern.contains("...")
            if status != "default",
                let known = groups.firstIndex(where: {
                    $0.type == type && $0.status.contains("...") == isRange
                })
            {
                groups[known].status += ", \(pattern)"
            } else {
                groups.append((pattern, type))
            }
        }
        return groups
    }

    private func writeConfigure(_ endpoint: Endpoint, to text: inout Text) {
        var lines: [String] = []
        if endpoint.joinsLists { lines.append("request.encoding?.arrays = .comma") }
        if endpoint.sendsNoCredentials { lines.append("request.uses.remove(.authenticators)") }
        guard !lines.isEmpty else { return }
        text.block("\(access)override func configure(_ request: inout RequestDescription)") {
            text in
            text.add("super.configure(&request)")
            for line in lines { text.add(line) }
        }
    }

    // MARK: - Streams and pages

    private func writeStreams(_ endpoint: Endpoint, to text: inout Text) {
        if let type = endpoint.events {
            text.separate()
            if endpoint.hasTextEvents {
                text.document(
                    "Sends the request for an event stream, and returns the data of its events.")
                text.list(
                    "nonisolated(nonsending) \(access)func events(",
                    ["on agent: RequestAgent? = nil"],
                    ") async throws(RequestError) -> some AsyncSequence<String, RequestError> {")
                text.indented { $0.add("try await serverSentEvents(on: agent).map { $0.data }") }
            } else {
                let name = names.name(type, in: endpoint.owner)
                text.document("Sends the request for an event stream, and returns its events.")
                text.list(
                    "nonisolated(nonsending) \(access)func events(",
                    ["on agent: RequestAgent? = nil"],
                    ") async throws(RequestError) -> Events<\(name)> {")
                text.indented { $0.add("Events(events: try await serverSentEvents(on: agent))") }
            }
            text.add("}")
        }
        if let type = endpoint.lines {
            let name = names.name(type, in: endpoint.owner)
            text.separate()
            text.document("Sends the request, and returns the lines of the response.")
            text.list(
                "nonisolated(nonsending) \(access)func lines(", ["on agent: RequestAgent? = nil"],
                ") async throws(RequestError) -> ResponseStream.JSONValues<\(name)> {")
            text.indented { $0.add("try await stream(on: agent).jsonLines(of: \(name).self)") }
            text.add("}")
        }
    }

    private func writePages(_ endpoint: Endpoint, to text: inout Text) {
        guard let pages = endpoint.pages else { return }
        text.separate()
        text.document("The rule for the request of the next page.")
        let lines = pages.rule.split(separator: "\n").map(String.init)
        if lines.count == 1 {
            text.getter("\(access)var pagination: Pagination", pages.rule)
        } else {
            text.block("\(access)var pagination: Pagination") { text in
                for line in lines { text.add(line) }
            }
        }
        text.separate()
        text.document("The pages of the list.")
        writeSequence("pages", "Output", "pages(pagination, limit: limit, on: agent)", to: &text)
        let item = names.name(pages.item, in: endpoint.owner)
        text.separate()
        text.document("The items of all pages.")
        if let items = pages.items {
            let value = items.isOptional ? "{ $0.\(items.name) ?? [] }" : "{ $0.\(items.name) }"
            writeSequence(
                "items", item, "items(pagination, limit: limit, on: agent) \(value)", to: &text)
        } else {
            writeSequence("items", item, "items(pagination, limit: limit, on: agent)", to: &text)
        }
    }

    private func writeSequence(
        _ name: String, _ element: String, _ call: String, to text: inout Text
    ) {
        let parameters = "limit: Int? = nil, on agent: RequestAgent? = nil"
        let result = ") -> some AsyncSequence<\(element), RequestError> {"
        if text.fits(result) {
            text.list("\(access)func \(name)(", [parameters], result)
        } else {
            text.add("\(access)func \(name)(")
            text.indented { $0.add(parameters) }
            text.add(") -> some AsyncSequence<")
            text.indented { text in
                if text.fits("\(element), RequestError") {
                    text.add("\(element), RequestError")
                } else {
                    text.add("\(element),")
                    text.add("RequestError")
                }
            }
            text.add("> {")
        }
        text.indented { $0.addClosure(call) }
        text.add("}")
    }
}

extension Text {
    /// Adds a closure, whose head has its own brace.
    mutating func block(_ head: String, closing: String, _ body: (inout Text) -> Void) {
        add(head)
        indented(body)
        add(closing)
    }
}
