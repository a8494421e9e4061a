/// Reads the model of a document.
struct APIReader {
    let documents: Documents
    let schemas: SchemaReader
    private var api = API()

    init(_ documents: Documents, _ schemas: SchemaReader) {
        self.documents = documents
        self.schemas = schemas
    }

    static let methods = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
    ]

    /// Reads the document in a file; `nil`, and a problem, if it is none.
    mutating func read(_ file: String) -> API? {
        let root = Place(file: file, pointer: "")
        guard let node = documents.root(of: file) else { return nil }
        guard let version = node["openapi"]?.string ?? node["openapi"].flatMap(Self.number) else {
            let found = node["swagger"] == nil ? "" : " This is Swagger 2.0; convert it first."
            documents.report(.error, root, "There is no member `openapi` with the version.\(found)")
            return nil
        }
        guard version.hasPrefix("3.0") || version.hasPrefix("3.1") || version.hasPrefix("3.2")
        else {
            documents.report(
                .error, root.child("openapi"),
                "The version \(version) is not supported; 3.0 and 3.1 are.")
            return nil
        }
        let title = node["info"]?["title"]?.string ?? ""
        api.title = String(title.map { $0.isControl ? " " : $0 })
        api.version = node["info"]?["version"].flatMap { $0.string ?? Self.number($0) } ?? ""
        api.text = node["info"]?["description"]?.string
        api.servers = servers(of: node, root)
        api.security = security(of: node, root, node)
        readSchemes(node, root)
        let components = root.child("components").child("schemas")
        _ = documents.members("components", of: node, root)
        let schemas = node["components"].map {
            documents.members("schemas", of: $0, root.child("components"))
        }
        api.schemas = (schemas ?? []).map { components.child($0.key) }
        if node["paths"] == nil, node["webhooks"] == nil, node["components"] == nil {
            documents.report(.error, root, "There are no `paths`.")
        }
        let paths = documents.members("paths", of: node, root)
        for (path, _) in paths where path.hasPrefix("/") {
            readPath(path, root.child("paths").child(path), node)
        }
        for (path, _) in paths where !path.hasPrefix("/") && !path.hasPrefix("x-") {
            documents.report(
                .error, root.child("paths").child(path), "A path must begin with a slash.")
        }
        return api
    }

    private static func number(_ node: Node) -> String? {
        guard case .number(let text) = node.value else { return nil }
        return text
    }

    private func servers(of node: Node, _ place: Place) -> [API.Server] {
        (documents.list("servers", of: node, place) ?? []).enumerated().compactMap {
            position, item in
            guard let url = item["url"]?.string else { return nil }
            let variables = (item["variables"]?.members ?? []).map { name, variable in
                API.Server.Variable(
                    name: name, text: variable["description"]?.string,
                    defaultValue: variable["default"].flatMap { $0.string ?? Self.number($0) }
                        ?? "",
                    values: (variable["enum"]?.items ?? [])
                        .compactMap { $0.string ?? Self.number($0) })
            }
            return API.Server(
                url: url, place: place.child("servers").child(position),
                text: item["description"]?.string, variables: variables)
        }
    }

    /// The servers of an operation; a relative one is resolved against the server of the document.
    private func servers(of operation: Node, _ place: Place, in item: Node, _ path: Place)
        -> [API.Server]
    {
        var servers = servers(of: operation, place)
        if servers.isEmpty { servers = self.servers(of: item, path) }
        // Servers that are those of the document say nothing new.
        if servers.map(\.url) == api.servers.map(\.url) { return [] }
        return servers.compactMap { server in
            if server.url.contains("://") { return server }
            guard let base = api.servers.first(where: { $0.url.contains("://") }),
                let start = base.url.firstRange(of: "://")?.upperBound
            else {
                documents.report(
                    .note, server.place,
                    "The server \(server.url) is relative, and the document has no absolute one; "
                        + "the URL of the configuration is used.")
                return nil
            }
            let end = base.url[start...].firstIndex(of: "/") ?? base.url.endIndex
            let folder = base.url[end...].lastIndex(of: "/").map { base.url[end..<$0] } ?? ""
            var server = server
            server.variables += base.variables
            let isRooted = server.url.hasPrefix("/")
            server.url = base.url[..<end] + (isRooted ? "" : "\(folder)/") + server.url
            return server
        }
    }

    /// The requirements of an operation or of the document, whose schemes must be declared.
    private func security(of node: Node, _ place: Place, _ root: Node) -> [[String]]? {
        let schemes = root["components"]?["securitySchemes"]
        return documents.list("security", of: node, place)?.enumerated().map {
            position, requirement in
            let names = (requirement.members ?? []).map(\.key)
            for name in names where schemes?[name] == nil {
                documents.report(
                    .error, place.child("security").child(position),
                    "The security scheme \"\(name)\" is not declared.")
            }
            return names
        }
    }

    private mutating func readSchemes(_ node: Node, _ root: Place) {
        let place = root.child("components").child("securitySchemes")
        let schemes = node["components"].map {
            documents.members("securitySchemes", of: $0, root.child("components"))
        }
        for (name, _) in schemes ?? [] {
            guard let (scheme, place) = documents.resolve(place.child(name)) else { continue }
            guard let kind = kind(of: scheme) else {
                documents.report(
                    .error, place, "The security scheme \"\(name)\" has no known type and place.")
                continue
            }
            api.schemes.append(
                .init(
                    name: name, kind: kind, text: scheme["description"]?.string, place: place))
        }
    }

    private func kind(of scheme: Node) -> API.SecurityScheme.Kind? {
        switch scheme["type"]?.string {
        case "apiKey":
            guard let name = scheme["name"]?.string else { return nil }
            return switch scheme["in"]?.string {
            case "header": .header(name)
            case "query": .query(name)
            case "cookie": .cookie(name)
            default: nil
            }
        case "http":
            return switch scheme["scheme"]?.string?.lowercased() {
            case "basic": .basic
            case "bearer": .bearer
            case let other?: .http(other)
            case nil: nil
            }
        case "oauth2", "openIdConnect": return .token
        case "mutualTLS": return .mutualTLS
        default: return nil
        }
    }

    // MARK: - Paths

    private mutating func readPath(_ path: String, _ place: Place, _ document: Node) {
        guard let (item, place) = documents.resolve(place), !item.isNull,
            documents.isObject(item, place)
        else { return }
        let itemPlace = place
        for (method, _) in documents.members("additionalOperations", of: item, place) {
            documents.report(
                .refused, place.child("additionalOperations").child(method),
                "The methods of `additionalOperations` are not generated.",
                subject: "\(method) \(path)")
        }
        for method in Self.methods where item[method] != nil {
            let shared = parameters(of: item, place)
            // Some documents keep each operation in a file of its own.
            guard let (node, place) = documents.resolve(place.child(method)),
                documents.isObject(node, place)
            else { continue }
            var operation = Operation(place: place, path: path, method: method)
            operation.id = node["operationId"]?.string
            operation.tags = (node["tags"]?.items ?? []).compactMap(\.string)
            operation.summary = node["summary"]?.string ?? item["summary"]?.string
            operation.text = node["description"]?.string
            operation.isDeprecated = node["deprecated"]?.bool ?? false
            operation.security = security(of: node, place, document)
            operation.pagination = node["x-errand-pagination"]
            operation.servers = servers(of: node, place, in: item, itemPlace)
            let own = parameters(of: node, place)
            operation.parameters =
                shared.parameters.filter { parameter in
                    !own.parameters.contains {
                        $0.name == parameter.name && $0.location == parameter.location
                    }
                } + own.parameters
            operation.refusal = own.refusal ?? shared.refusal
            operation.body = body(of: node, place)
            operation.responses = responses(of: node, place)
            api.operations.append(operation)
        }
    }

    private func parameters(of node: Node, _ place: Place) -> (
        parameters: [Operation.Parameter], refusal: Operation.Refusal?
    ) {
        var refusal: Operation.Refusal?
        let items = documents.list("parameters", of: node, place) ?? []
        let place = place.child("parameters")
        let parameters = items.indices.compactMap { position -> Operation.Parameter? in
            guard let (node, place) = documents.resolve(place.child(position)) else { return nil }
            guard let name = node["name"]?.string, let text = node["in"]?.string else {
                documents.report(.error, place, "A parameter needs a name and a place (`in`).")
                return nil
            }
            guard let location = Operation.Parameter.Location(rawValue: text) else {
                refusal = .init(
                    place: place,
                    message: "The parameter \(name) is in \"\(text)\"; "
                        + "those in path, query, header and cookie are generated.")
                return nil
            }
            let style =
                node["style"]?.string
                ?? (location == .query || location == .cookie ? "form" : "simple")
            var parameter = Operation.Parameter(
                place: place, name: name, location: location, style: style,
                explodes: node["explode"]?.bool ?? (style == "form"))
            parameter.isRequired = location == .path || node["required"]?.bool ?? false
            parameter.isDeprecated = node["deprecated"]?.bool ?? false
            parameter.text = node["description"]?.string
            if node["schema"] != nil {
                parameter.schema = schemas.schema(at: place.child("schema"))
            } else if let content = documents.members("content", of: node, place).first {
                parameter.mediaType = content.key
                if content.value["schema"] != nil {
                    parameter.schema = schemas.schema(
                        at: place.child("content").child(content.key).child("schema"))
                }
            }
            return parameter
        }
        return (parameters, refusal)
    }

    private func body(of node: Node, _ place: Place) -> Operation.Body? {
        guard node["requestBody"] != nil,
            let (body, place) = documents.resolve(place.child("requestBody")), !body.isNull,
            documents.isObject(body, place)
        else { return nil }
        return Operation.Body(
            place: place, isRequired: body["required"]?.bool ?? false,
            text: body["description"]?.string, content: content(of: body, place))
    }

    private func content(of node: Node, _ place: Place) -> [Operation.Content] {
        documents.members("content", of: node, place).map { type, media in
            let place = place.child("content").child(type)
            var content = Operation.Content(place: place, mediaType: type)
            // An array of `itemSchema` is a sequence of OpenAPI 3.2.
            if media["itemSchema"] != nil {
                content.schema = schemas.schema(at: place.child("itemSchema"))
            } else if media["schema"] != nil {
                content.schema = schemas.schema(at: place.child("schema"))
            }
            if media["itemSchema"] != nil, content.isEvents, let event = content.schema {
                let data = data(of: event)
                (content.schema, content.hasTextEvents) = (data.schema, data.isText)
            }
            content.isStructured = content.schema.map { isStructured($0) } ?? false
            for (name, encoding) in media["encoding"]?.members ?? [] {
                let style = encoding["style"]?.string
                content.encodings[name] = .init(
                    contentType: encoding["contentType"]?.string, style: style,
                    explodes: encoding["explode"]?.bool ?? (style == nil || style == "form"))
            }
            return content
        }
    }

    /// The schema of the data of an event, which the member `data` describes as text; the schema itself without one.
    private func data(
        of event: Schema, depth: Int = 0
    ) -> (schema: Schema?, isText: Bool) {
        guard depth < 16 else { return (nil, false) }
        if let target = schemas.target(of: event) { return data(of: target, depth: depth + 1) }
        if !event.variants.isEmpty, event.properties.isEmpty {
            let all = event.variants.map { data(of: $0, depth: depth + 1) }
            if all.allSatisfy(\.isText) { return (nil, true) }
            let known = all.compactMap(\.schema)
            // Events whose data is text or JSON have no type.
            guard known.count == all.count else { return (nil, false) }
            let union = Schema(place: event.place.child("+data"), node: event.node)
            union.variants = known.reduce(into: []) { list, schema in
                if !list.contains(where: { $0.place == schema.place }) { list.append(schema) }
            }
            return (union, false)
        }
        guard let data = member("data", of: event) else { return (event, false) }
        if data.node["contentSchema"] != nil {
            return (schemas.schema(at: data.place.child("contentSchema")), false)
        }
        let isJSON = data.node["contentMediaType"]?.string?.contains("json") ?? false
        return (nil, data.types == ["string"] && !isJSON)
    }

    /// The schema of a member of an object, also of one that it is composed of.
    private func member(_ name: String, of schema: Schema, depth: Int = 0) -> Schema? {
        guard depth < 16 else { return nil }
        if let target = schemas.target(of: schema) {
            return member(name, of: target, depth: depth + 1)
        }
        return schema.properties.first { $0.name == name }?.schema
            ?? schema.allOf.lazy.compactMap { member(name, of: $0, depth: depth + 1) }.first
    }

    /// Whether values of a schema are objects or lists.
    private func isStructured(_ schema: Schema, depth: Int = 0) -> Bool {
        if let target = schemas.target(of: schema), depth < 16 {
            return isStructured(target, depth: depth + 1)
        }
        return schema.types.contains("object") || schema.types.contains("array")
            || !schema.properties.isEmpty || !schema.allOf.isEmpty || schema.items != nil
    }

    private func responses(of node: Node, _ place: Place) -> [Operation.Response] {
        let members = documents.members("responses", of: node, place)
        let place = place.child("responses")
        return members.compactMap { status, _ in
            guard !status.hasPrefix("x-"),
                let (node, place) = documents.resolve(place.child(status)),
                documents.isObject(node, place)
            else { return nil }
            guard Operation.Response.isStatus(status) else {
                documents.report(
                    .note, place,
                    "`\(status)` is neither a status, nor a range such as 4XX, nor `default`; the response is left out."
                )
                return nil
            }
            var response = Operation.Response(
                place: place, status: status, text: node["description"]?.string,
                content: content(of: node, place))
            let headers = documents.members("headers", of: node, place)
                .map { $0.key.lowercased() }
            response.hasLinkHeader = headers.contains("link")
            response.hasLocationHeader = headers.contains("location")
            return response
        }
    }
}
