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
        api.title = node["info"]?["title"]?.string ?? ""
        api.version = node["info"]?["version"].flatMap { $0.string ?? Self.number($0) } ?? ""
        api.text = node["info"]?["description"]?.string
        api.servers = servers(of: node, root)
        api.security = security(of: node, root)
        readSchemes(node, root)
        let components = root.child("components").child("schemas")
        api.schemas = (node["components"]?["schemas"]?.members ?? []).map {
            components.child($0.key)
        }
        if node["paths"] == nil, node["webhooks"] == nil, node["components"] == nil {
            documents.report(.error, root, "There are no `paths`.")
        }
        for (path, _) in node["paths"]?.members ?? [] where path.hasPrefix("/") {
            readPath(path, root.child("paths").child(path))
        }
        for (path, _) in node["paths"]?.members ?? []
        where !path.hasPrefix("/") && !path.hasPrefix("x-") {
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
        (node["servers"]?.items ?? []).compactMap { item in
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
                url: url, text: item["description"]?.string, variables: variables)
        }
    }

    private func security(of node: Node, _ place: Place) -> [[String]]? {
        node["security"]?.items?.map { ($0.members ?? []).map(\.key) }
    }

    private mutating func readSchemes(_ node: Node, _ root: Place) {
        let place = root.child("components").child("securitySchemes")
        for (name, _) in node["components"]?["securitySchemes"]?.members ?? [] {
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

    private mutating func readPath(_ path: String, _ place: Place) {
        guard let (item, place) = documents.resolve(place) else { return }
        for method in Self.methods where item[method] != nil {
            let shared = parameters(of: item, place)
            // Some documents keep each operation in a file of its own.
            guard let (node, place) = documents.resolve(place.child(method)), node.members != nil
            else { continue }
            var operation = Operation(place: place, path: path, method: method)
            operation.id = node["operationId"]?.string
            operation.tags = (node["tags"]?.items ?? []).compactMap(\.string)
            operation.summary = node["summary"]?.string ?? item["summary"]?.string
            operation.text = node["description"]?.string
            operation.isDeprecated = node["deprecated"]?.bool ?? false
            operation.security = security(of: node, place)
            operation.pagination = node["x-errand-pagination"]
            operation.servers = servers(of: node, place)
            if operation.servers.isEmpty {
                operation.servers = servers(of: item, place)
                // Servers of the path that are those of the document say nothing new.
                if operation.servers.map(\.url) == api.servers.map(\.url) { operation.servers = [] }
            }
            let own = parameters(of: node, place)
            operation.parameters =
                shared.filter { parameter in
                    !own.contains { $0.name == parameter.name && $0.location == parameter.location }
                } + own
            operation.body = body(of: node, place)
            operation.responses = responses(of: node, place)
            api.operations.append(operation)
        }
    }

    private func parameters(of node: Node, _ place: Place) -> [Operation.Parameter] {
        let place = place.child("parameters")
        return (node["parameters"]?.items ?? []).indices.compactMap { position in
            guard let (node, place) = documents.resolve(place.child(position)) else { return nil }
            guard let name = node["name"]?.string,
                let location = node["in"]?.string.flatMap(Operation.Parameter.Location.init)
            else {
                documents.report(.error, place, "A parameter needs a name and a place (`in`).")
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
            } else if let content = node["content"]?.members?.first {
                parameter.mediaType = content.key
                if content.value["schema"] != nil {
                    parameter.schema = schemas.schema(
                        at: place.child("content").child(content.key).child("schema"))
                }
            }
            return parameter
        }
    }

    private func body(of node: Node, _ place: Place) -> Operation.Body? {
        guard node["requestBody"] != nil,
            let (body, place) = documents.resolve(place.child("requestBody"))
        else { return nil }
        return Operation.Body(
            place: place, isRequired: body["required"]?.bool ?? false,
            text: body["description"]?.string, content: content(of: body, place))
    }

    private func content(of node: Node, _ place: Place) -> [Operation.Content] {
        (node["content"]?.members ?? []).map { type, media in
            let place = place.child("content").child(type)
            var content = Operation.Content(place: place, mediaType: type)
            // An array of `itemSchema` is a sequence of OpenAPI 3.2.
            if media["itemSchema"] != nil {
                content.schema = schemas.schema(at: place.child("itemSchema"))
            } else if media["schema"] != nil {
                content.schema = schemas.schema(at: place.child("schema"))
            }
            content.isStructured = content.schema.map { isStructured($0) } ?? false
            for (name, encoding) in media["encoding"]?.members ?? [] {
                if let type = encoding["contentType"]?.string { content.encodings[name] = type }
            }
            return content
        }
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
        let place = place.child("responses")
        return (node["responses"]?.members ?? []).compactMap { status, _ in
            guard !status.hasPrefix("x-"),
                let (node, place) = documents.resolve(place.child(status))
            else { return nil }
            var response = Operation.Response(
                place: place, status: status, text: node["description"]?.string,
                content: content(of: node, place))
            let headers = (node["headers"]?.members ?? []).map { $0.key.lowercased() }
            response.hasLinkHeader = headers.contains("link")
            response.hasLocationHeader = headers.contains("location")
            return response
        }
    }
}
