/// Plans the endpoint of an operation.
struct EndpointPlanner {
    /// The reason why an operation is not generated.
    typealias Refusal = Operation.Refusal

    let types: TypePlanner
    let documents: Documents
    private var names = NameScope(SwiftName.requestMembers)

    init(types: TypePlanner, documents: Documents) {
        self.types = types
        self.documents = documents
    }

    /// The name of an operation: its identifier, or its method and path.
    static func name(of operation: Operation) -> String {
        if let id = operation.id, id.contains(where: { $0.isLetter }) { return SwiftName.type(id) }
        let path = operation.path.split(separator: "/").map { part in
            part.hasPrefix("{") ? "by_" + part.dropFirst().dropLast() : String(part)
        }
        return SwiftName.type(([operation.method] + path).joined(separator: "_"))
    }

    mutating func plan(_ operation: Operation, name: String) throws(Refusal) -> Endpoint {
        if let refusal = operation.refusal { throw refusal }
        let owner = Owner(
            name: name, names: NameScope(SwiftName.reservedTypes.union([name, "Body"])),
            isEndpoint: true)
        var endpoint = Endpoint(operation: operation, name: name, owner: owner)
        names = NameScope(SwiftName.requestMembers)
        try planParameters(&endpoint)
        planBody(&endpoint)
        planResponses(&endpoint)
        endpoint.server = operation.servers.first
        endpoint.pages = Paging(types: types).pages(of: endpoint)
        // Values that are required come first.
        let required = endpoint.properties.filter { !$0.isOptional && $0.value == nil }
        endpoint.properties =
            required + endpoint.properties.filter { $0.isOptional || $0.value != nil }
        return endpoint
    }

    private func context(
        _ endpoint: Endpoint, _ name: String, _ direction: Direction, isArgument: Bool = false
    ) -> TypePlanner.Context {
        TypePlanner.Context(
            owner: endpoint.owner, name: name, parent: endpoint.name, direction: direction,
            isArgument: isArgument)
    }

    // MARK: - Parameters

    private mutating func planParameters(_ endpoint: inout Endpoint) throws(Refusal) {
        var byName: [String: Endpoint.Property] = [:]
        var styles: Set<Bool> = []
        let operation = endpoint.operation
        for parameter in operation.parameters {
            if parameter.location == .header,
                ["accept", "content-type", "authorization"].contains(parameter.name.lowercased())
            {
                documents.report(
                    .note, parameter.place,
                    "OpenAPI ignores the parameter \(parameter.name), which the request sets itself.",
                    subject: endpoint.name)
                continue
            }
            let property = try property(of: parameter, endpoint)
            switch parameter.location {
            case .path: byName[parameter.name] = property
            case .query:
                let argument = try argument(for: parameter, property)
                if Self.isList(argument) { styles.insert(parameter.explodes) }
                endpoint.arguments.append(argument)
            case .header:
                endpoint.headers.append(
                    .init(
                        name: parameter.name, property: property,
                        form: try form(of: parameter, property)))
            case .cookie:
                endpoint.cookies.append(
                    .init(
                        name: parameter.name, property: property,
                        form: try form(of: parameter, property)))
            }
            if parameter.location == .path,
                !operation.path.contains("{\(parameter.name)}")
            {
                documents.report(
                    .note, parameter.place, "The path has no {\(parameter.name)}.",
                    subject: endpoint.name)
                continue
            }
            endpoint.properties.append(property)
        }
        // A rule for all lists; if they differ, those with commas are joined one by one.
        endpoint.joinsLists = styles == [false]
        if styles.count == 2 {
            for position in endpoint.arguments.indices {
                let argument = endpoint.arguments[position]
                guard Self.isList(argument),
                    operation.parameters.contains(where: {
                        $0.location == .query && $0.name == argument.name && !$0.explodes
                    })
                else { continue }
                if case .plain = argument.form {
                    endpoint.arguments[position].form = .joined(",")
                } else {
                    endpoint.arguments[position].form = .alternating(",")
                }
            }
        }
        endpoint.url = try url(of: operation, byName)
    }

    private mutating func property(
        of parameter: Operation.Parameter, _ endpoint: Endpoint
    ) throws(Refusal) -> Endpoint.Property {
        let base = SwiftName.member(parameter.name)
        var use = TypePlanner.Use(
            type: .builtin(parameter.isJSON ? "JSON" : "String"), isNullable: false)
        if let type = parameter.mediaType, !parameter.isJSON {
            guard Operation.Content(place: parameter.place, mediaType: type).isText else {
                throw Refusal(
                    place: parameter.place,
                    message: "The parameter \(parameter.name) has the media type \(type), "
                        + "which is neither JSON nor text.")
            }
        } else if let schema = parameter.schema {
            use = types.use(
                of: parameter.isJSON || parameter.style == "deepObject"
                    ? schema : simplified(schema, parameter.location),
                context(
                    endpoint, SwiftName.type(parameter.name), .request,
                    isArgument: !parameter.isJSON))
        } else if !parameter.isJSON {
            throw Refusal(
                place: parameter.place,
                message: "The parameter \(parameter.name) has neither a schema nor a media type.")
        }
        var text = parameter.text ?? parameter.schema?.text
        if let value = parameter.schema?.defaultValue, !value.isNull {
            text = (text.map { $0 + "\n\n" } ?? "") + "Default: `\(value.json)`."
        }
        var property = Endpoint.Property(
            name: names.take(base, base + "Parameter"), type: use.type,
            isOptional: !parameter.isRequired, text: text, isDeprecated: parameter.isDeprecated)
        if parameter.isRequired, let value = use.constant {
            property.value = TypePlanner.literal(value, use.type)
        }
        return property
    }

    /// The schema of a parameter: of values and lists of them, the list; of several kinds of values, text.
    private func simplified(
        _ schema: Schema, _ location: Operation.Parameter.Location
    ) -> Schema {
        let (_, shape, _) = types.shapes.resolved(schema)
        // Without rules, a value of a path or a header is text.
        if case .any = shape, location != .query { return text(schema) }
        if case .array(let items?) = shape,
            case .union(let variants, _) = types.shapes.resolved(items).shape,
            variants.allSatisfy(isPlain)
        {
            // Items of several kinds of values are text.
            let list = Schema(place: schema.place.child("+list"), node: schema.node)
            list.types = ["array"]
            list.items = text(items)
            list.text = schema.text
            return list
        }
        guard case .union(let variants, _) = shape else { return schema }
        var lists: [Schema] = []
        for variant in variants {
            let (_, shape, _) = types.shapes.resolved(variant)
            switch shape {
            case .array(let items):
                guard let items, isPlain(items) else { return any(schema) }
                lists.append(variant)
            case .builtin, .enumeration: continue
            case .union, .object, .dictionary, .any, .binary, .same: return any(schema)
            }
        }
        if lists.count == 1 { return lists[0] }
        return lists.isEmpty ? text(schema) : any(schema)
    }

    private func text(_ schema: Schema) -> Schema {
        let text = Schema(place: schema.place.child("+text"), node: schema.node)
        text.types = ["string"]
        text.text = schema.text
        return text
    }

    private func isPlain(_ schema: Schema) -> Bool {
        switch types.shapes.resolved(schema).shape {
        case .builtin, .enumeration: true
        default: false
        }
    }

    private func any(_ schema: Schema) -> Schema {
        let any = Schema(place: schema.place.child("+any"), node: schema.node)
        any.text = schema.text
        return any
    }

    /// Whether an argument is a list that repeats its name, or has commas.
    private static func isList(_ argument: Endpoint.Argument) -> Bool {
        switch argument.form {
        case .plain: if case .array = argument.property.type { true } else { false }
        case .alternating(nil): true
        default: false
        }
    }

    private func argument(
        for parameter: Operation.Parameter, _ property: Endpoint.Property
    ) throws(Refusal) -> Endpoint.Argument {
        var form = Endpoint.Argument.Form.plain
        switch (parameter.style, property.type) {
        case _ where parameter.isJSON: form = .json
        case ("deepObject", let type): form = hasList(type) ? .indexed : .nested
        case ("spaceDelimited", .array) where !parameter.explodes: form = .joined(" ")
        case ("pipeDelimited", .array) where !parameter.explodes: form = .joined("|")
        case _ where isObject(property.type):
            form =
                switch (parameter.style, parameter.explodes) {
                case (_, true): .members
                case ("spaceDelimited", false): .alternating(" ")
                case ("pipeDelimited", false): .alternating("|")
                default: .alternating(nil)
                }
        default: break
        }
        try checkItems(of: parameter, property)
        return Endpoint.Argument(name: parameter.name, property: property, form: form)
    }

    /// The form of a value of a header or a cookie.
    private func form(
        of parameter: Operation.Parameter, _ property: Endpoint.Property
    ) throws(Refusal) -> Endpoint.Argument.Form {
        if parameter.isJSON { return .json }
        try checkItems(of: parameter, property)
        guard isObject(property.type) else { return .plain }
        if parameter.location == .cookie, parameter.explodes {
            throw Refusal(
                place: parameter.place,
                message: "The cookie parameter \(parameter.name) is an object whose members are "
                    + "cookies; set `explode` to false, or describe the cookies.")
        }
        return parameter.explodes ? .pairs : .alternating(",")
    }

    private func checkItems(
        of parameter: Operation.Parameter, _ property: Endpoint.Property
    ) throws(Refusal) {
        guard !parameter.isJSON, parameter.style != "deepObject",
            case .array(let element) = property.type, !isValue(element)
        else { return }
        throw Refusal(
            place: parameter.place,
            message: "The parameter \(parameter.name) is a list of objects or lists, for which "
                + "OpenAPI defines no form.")
    }

    private func isUnionOfValues(_ type: SwiftType) -> Bool {
        guard case .declared(let key) = type,
            case .union(let union)? = types.declarations[key]?.body
        else { return false }
        return union.cases.allSatisfy { isValue($0.type) }
    }

    /// Whether values of a type are lists, or have some.
    private func hasList(_ type: SwiftType) -> Bool {
        var seen: Set<TypeKey> = []
        return hasList(type, &seen)
    }

    private func hasList(_ type: SwiftType, _ seen: inout Set<TypeKey>) -> Bool {
        switch type {
        case .array: return true
        case .dictionary(let inner), .optional(let inner): return hasList(inner, &seen)
        case .builtin, .binary: return false
        case .declared(let key):
            guard seen.insert(key).inserted else { return false }
            var inner: [SwiftType] = []
            switch types.declarations[key]?.body {
            case .structure(let structure):
                inner = structure.properties.map(\.type)
                if let additional = structure.additional { inner.append(additional) }
            case .union(let union): inner = union.cases.map(\.type)
            case .enumeration, nil: break
            }
            for type in inner where hasList(type, &seen) { return true }
            return false
        }
    }

    private func isObject(_ type: SwiftType) -> Bool {
        switch type {
        case .dictionary: return true
        case .declared(let key):
            if case .enumeration? = types.declarations[key]?.body { return false }
            return true
        default: return false
        }
    }

    private func isValue(_ type: SwiftType) -> Bool {
        switch type {
        case .builtin: true
        case .declared: !isObject(type)
        case .array, .dictionary, .binary, .optional: false
        }
    }

    private func url(
        of operation: Operation, _ properties: [String: Endpoint.Property]
    ) throws(Refusal) -> [Endpoint.URLPart] {
        var parts: [Endpoint.URLPart] = []
        var rest = Substring(operation.path.drop { $0 == "/" })
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            let name = String(rest[rest.index(after: open)..<close])
            guard let property = properties[name] else {
                throw Refusal(
                    place: operation.place,
                    message: "The path has {\(name)}, but there is no such path parameter.")
            }
            let parameter = operation.parameters.first { $0.name == name && $0.location == .path }
            if let parameter {
                try checkItems(of: parameter, property)
                parts += value(of: parameter, property)
            }
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return parts
    }

    /// A value of the path, with the text before it (RFC 6570 §3.2.2, §3.2.5 and §3.2.7).
    private func value(
        of parameter: Operation.Parameter, _ property: Endpoint.Property
    ) -> [Endpoint.URLPart] {
        if parameter.isJSON { return [.value(property, .json, separator: "")] }
        let isObject = isObject(property.type)
        var start = ""
        var separator = ","
        switch parameter.style {
        case "label":
            start = "."
            if parameter.explodes { separator = "." }
        case "matrix":
            let name = ";" + parameter.name.percentEncoded
            start = isObject && parameter.explodes ? ";" : name + "="
            if parameter.explodes { separator = isObject ? ";" : name + "=" }
        default: break
        }
        let form: Endpoint.Argument.Form =
            !isObject ? .plain : parameter.explodes ? .pairs : .alternating(nil)
        return (start.isEmpty ? [] : [.text(start)])
            + [.value(property, form, separator: separator)]
    }

    // MARK: - Body

    private mutating func planBody(_ endpoint: inout Endpoint) {
        guard let body = endpoint.operation.body, !body.content.isEmpty else { return }
        let content = preferred(body.content)
        // Some tools give every operation a form, which is empty if there are no fields.
        if content.isForm, !body.isRequired, isEmpty(content) { return }
        let others = body.content.filter { $0.mediaType != content.mediaType }
        if !others.isEmpty {
            documents.report(
                .note, body.place,
                "The body is sent as \(content.mediaType); the document also has "
                    + others.map(\.mediaType).joined(separator: ", ") + ".",
                subject: endpoint.name)
        }
        if content.isJSON {
            planJSON(content, body, &endpoint)
        } else if content.type == "application/x-www-form-urlencoded" {
            planForm(content, body, &endpoint)
        } else if content.type.hasPrefix("multipart/") {
            planMultipart(content, body, &endpoint)
        } else if content.isText {
            let property = Endpoint.Property(
                name: names.take("text", "content"), type: .builtin("String"),
                isOptional: !body.isRequired, text: body.text)
            endpoint.properties.append(property)
            endpoint.body = .text(property, contentType: content.mediaType)
        } else {
            let type = content.mediaType
            let property = Endpoint.Property(
                name: names.take("content"), type: .binary, isOptional: !body.isRequired,
                special: "HTTPBody",
                text: Self.text(
                    body.text,
                    "A body of the type `\(type)`, such as `.file(url, contentType: \"\(type)\")`.")
            )
            endpoint.properties.append(property)
            endpoint.body = .ready(property)
        }
    }

    private func isEmpty(_ content: Operation.Content) -> Bool {
        guard let schema = content.schema, schema.types == ["object"], schema.properties.isEmpty,
            schema.node["properties"] != nil, schema.allOf.isEmpty, schema.variants.isEmpty
        else { return false }
        return schema.isAdditionalUnspecified || schema.node["additionalProperties"]?.bool == false
    }

    private static func text(_ text: String?, _ sentence: String) -> String {
        guard let text, !text.isEmpty else { return sentence }
        return text + "\n\n" + sentence
    }

    private func preferred(_ content: [Operation.Content]) -> Operation.Content {
        content.first(where: \.isJSON)
            ?? content.first { $0.type == "application/x-www-form-urlencoded" }
            ?? content.first { $0.type.hasPrefix("multipart/") }
            ?? content.first(where: \.isText) ?? content[0]
    }

    private mutating func planJSON(
        _ content: Operation.Content, _ body: Operation.Body, _ endpoint: inout Endpoint
    ) {
        var use = TypePlanner.Use(type: .builtin("JSON"), isNullable: false)
        if let schema = content.schema {
            use = types.use(of: schema, context(endpoint, "Content", .request))
        }
        var name = "content"
        if case .declared(let key) = use.type, let declaration = types.declarations[key],
            declaration.owner == nil
        {
            // Without the ending of a type that is for requests alone.
            let isInput = declaration.name == SwiftName.type(key.place.name) + "Input"
            let long = SwiftName.member(isInput ? key.place.name : declaration.name)
            if long.count <= 40 { name = long }
        }
        let property = Endpoint.Property(
            name: names.take(name, "content"), type: use.type,
            isOptional: !body.isRequired || use.isNullable, text: body.text)
        endpoint.properties.append(property)
        endpoint.body = .json(
            property,
            contentType: content.type == "application/json" || content.isWildcard
                ? nil : content.mediaType)
    }

    private mutating func fields(
        of content: Operation.Content, _ endpoint: inout Endpoint, isMultipart: Bool = false
    ) -> [(name: String, property: Endpoint.Property)]? {
        guard let schema = content.schema else { return nil }
        let (_, shape, _) = types.shapes.resolved(schema)
        guard case .object(let object) = shape else { return nil }
        // The body has a variable `parts`.
        if isMultipart { _ = names.take("parts") }
        return object.properties.compactMap { key, member in
            let (found, _, _) = types.shapes.resolved(member)
            if member.isReadOnly || found.isReadOnly { return nil }
            let use = types.use(
                of: member, context(endpoint, SwiftName.type(key), .request, isArgument: true))
            let base = SwiftName.member(key)
            var text = member.documentation(of: key)
            if let value = member.defaultValue, !value.isNull {
                text = Self.text(text, "Default: `\(value.json)`.")
            }
            let property = Endpoint.Property(
                name: names.take(base, base + "Field"), type: use.type,
                isOptional: !object.required.contains(key) || use.isNullable,
                special: isMultipart ? Self.part(of: use.type) : nil, text: text,
                isDeprecated: member.isDeprecated)
            return (key, property)
        }
    }

    /// The type of a file, or of files, of a form.
    private static func part(of type: SwiftType) -> String? {
        switch type {
        case .binary: "HTTPBody.Part"
        case .array(.binary): "[HTTPBody.Part]"
        default: nil
        }
    }

    private mutating func planForm(
        _ content: Operation.Content, _ body: Operation.Body, _ endpoint: inout Endpoint
    ) {
        guard let fields = fields(of: content, &endpoint) else {
            let property = Endpoint.Property(
                name: names.take("content"), type: .dictionary(.builtin("String")),
                isOptional: false, text: body.text)
            endpoint.properties.append(property)
            setForm([.init(name: "", property: property, form: .members)], &endpoint)
            return
        }
        var arguments: [Endpoint.Argument] = []
        for (name, property) in fields {
            endpoint.properties.append(property)
            let form = form(of: property, name, content, endpoint)
            arguments.append(.init(name: name, property: property, form: form))
        }
        setForm(arguments, &endpoint)
    }

    /// The form of a field of a form.
    private func form(
        of property: Endpoint.Property, _ name: String, _ content: Operation.Content,
        _ endpoint: Endpoint
    ) -> Endpoint.Argument.Form {
        let encoding = content.encodings[name]
        let (style, separator) = (encoding?.style, encoding?.separator)
        let isOfValues = if case .array(let item) = property.type { isValue(item) } else { false }
        let isObject = isObject(property.type)
        if encoding?.contentType?.contains("json") ?? false { return .json }
        if isObject, style != nil, style != "deepObject" {
            return separator == nil ? .members : .alternating(separator)
        }
        if isOfValues, style != "deepObject" { return separator.map { .joined($0) } ?? .plain }
        guard hasList(property.type) else { return isObject ? .nested : .plain }
        if case .array(let item) = property.type, isUnionOfValues(item), style != "deepObject" {
            return .nested
        }
        if style != "deepObject" {
            documents.report(
                .note, content.place,
                "OpenAPI defines no form for the lists in the field \(name); their items are written as \(name)[0].",
                subject: endpoint.name)
        }
        return .indexed
    }

    /// Sets the fields of a form: arguments, unless those are the query.
    private func setForm(_ fields: [Endpoint.Argument], _ endpoint: inout Endpoint) {
        let method = endpoint.operation.method
        if endpoint.arguments.isEmpty, ["post", "put", "patch"].contains(method) {
            endpoint.arguments = fields
            endpoint.body = .form
        } else {
            endpoint.body = .fields(fields)
        }
    }

    private mutating func planMultipart(
        _ content: Operation.Content, _ body: Operation.Body, _ endpoint: inout Endpoint
    ) {
        guard let fields = fields(of: content, &endpoint, isMultipart: true) else {
            let property = Endpoint.Property(
                name: names.take("parts"), type: .array(.binary), isOptional: false,
                special: "[HTTPBody.Part]",
                text: Self.text(body.text, "The parts of the form."))
            endpoint.properties.append(property)
            endpoint.body = .parts(property)
            return
        }
        endpoint.properties += fields.map(\.property)
        endpoint.body = .multipart(
            fields.map { ($0.name, $0.property, content.encodings[$0.name]?.contentType) })
    }

    // MARK: - Responses

    private func planResponses(_ endpoint: inout Endpoint) {
        // A response to HEAD has no body.
        guard endpoint.operation.method != "head" else { return }
        var successes = endpoint.operation.responses.filter(\.isSuccess)
        let hasOther = endpoint.operation.responses.contains { $0.status.hasPrefix("3") }
        if successes.isEmpty, !hasOther {
            successes = endpoint.operation.responses.filter { $0.status == "default" }
        }
        var outputs: [(status: String, output: Endpoint.SingleOutput)] = []
        for response in successes {
            if let content = response.content.first(where: \.isEvents) {
                endpoint.events = streamType(of: content, "Event", endpoint)
                endpoint.hasTextEvents = content.hasTextEvents
                if response.content.count == 1 { continue }
            }
            if let content = response.content.first(where: \.isLines) {
                endpoint.lines = streamType(of: content, "Line", endpoint)
                if response.content.count == 1 { continue }
            }
            outputs.append((response.status, output(of: response, of: successes, endpoint)))
        }
        let kinds = outputs.map(\.output).filter { $0 != .none }
        let hasEmpty = kinds.count < outputs.count
        let distinct = kinds.reduce(into: [Endpoint.SingleOutput]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        switch (distinct.count, distinct.first) {
        case (0, _): endpoint.output = .none
        case (1, .json(let type, let isOptional)):
            endpoint.output = .json(type, isOptional: isOptional || hasEmpty)
        case (1, .text): endpoint.output = .text
        case (1, .data): endpoint.output = .data
        default:
            // A range of statuses follows those that are stated one by one.
            func isRange(_ status: String) -> Bool { Int(status) == nil }
            endpoint.output = .byStatus(
                outputs.filter { !isRange($0.status) } + outputs.filter { isRange($0.status) })
        }
        if case .json = endpoint.output {
            endpoint.schema =
                successes.lazy.compactMap { $0.content.first(where: \.isJSON)?.schema }.first
        }
        let successStatuses = Set(successes.map(\.status))
        for response in endpoint.operation.responses
        where !successStatuses.contains(response.status) {
            guard !response.status.hasPrefix("3"),
                let content = response.content.first(where: \.isJSON),
                let schema = content.schema
            else { continue }
            let use = types.use(of: schema, context(endpoint, "ErrorBody", .response))
            endpoint.errors.append((response.status, use.type))
        }
    }

    private func noteOthers(
        of content: [Operation.Content], _ response: Operation.Response, _ endpoint: Endpoint
    ) {
        guard let read = content.first(where: \.isJSON) ?? content.first, content.count > 1 else {
            return
        }
        let others = content.map(\.mediaType).filter { $0 != read.mediaType }
        documents.report(
            .note, response.place,
            "The response is read as \(read.mediaType); the document also has "
                + others.joined(separator: ", ") + ".",
            subject: endpoint.name)
    }

    private func streamType(
        of content: Operation.Content, _ name: String, _ endpoint: Endpoint
    ) -> SwiftType {
        guard let schema = content.schema else {
            return .builtin(content.hasTextEvents ? "String" : "JSON")
        }
        let type = types.use(of: schema, context(endpoint, name, .response)).type
        // The schema of a whole body of text says nothing about an event.
        return type == .builtin("String") ? .builtin("JSON") : type
    }

    /// The name of an inline type of a response: `Output` if it is the only one.
    private func outputName(
        of response: Operation.Response, _ schema: Schema, of successes: [Operation.Response]
    ) -> String {
        let (_, shape, isNullable) = types.shapes.resolved(schema)
        switch shape {
        case .array: return "Items"
        case .dictionary: return "Values"
        default: break
        }
        if successes.count == 1 { return isNullable ? "OutputValue" : "Output" }
        return SwiftName.type(Operation.Response.caseName(response.status)) + "Output"
    }

    private func output(
        of response: Operation.Response, of successes: [Operation.Response], _ endpoint: Endpoint
    ) -> Endpoint.SingleOutput {
        let content = response.content.filter { !$0.isEvents && !$0.isLines }
        noteOthers(of: content, response, endpoint)
        if let json = content.first(where: \.isJSON) {
            guard let schema = json.schema else {
                return .json(.builtin("JSON"), isOptional: false)
            }
            let name = outputName(of: response, schema, of: successes)
            var context = context(endpoint, name, .response)
            context.isOutput = name == "Output"
            let use = types.use(of: schema, context)
            if use.type == .binary { return .data }
            return .json(use.type, isOptional: use.isNullable)
        }
        guard let first = content.first else { return .none }
        return first.isText ? .text : .data
    }
}
