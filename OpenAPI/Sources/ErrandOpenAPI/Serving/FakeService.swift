/// A service that has the operations of a document, and responds with its examples or with values of its schemas.
///
/// It keeps no state: a value that was sent is checked and forgotten. Not `Sendable`; use it from one thread.
public final class FakeService {
    /// A request.
    public struct Request {
        /// The method, in capital letters.
        public var method: String
        /// The path with its escapes, without the query.
        public var path: String
        /// The query with its escapes; empty for none.
        public var query: String
        /// The header fields; names in lower case.
        public var headers: [String: String]
        /// The body.
        public var body: [UInt8]

        /// Creates a request.
        public init(
            method: String, path: String, query: String = "", headers: [String: String] = [:],
            body: [UInt8] = []
        ) {
            self.method = method
            self.path = path
            self.query = query
            self.headers = headers
            self.body = body
        }
    }

    /// A response.
    public struct Response {
        /// The status code.
        public var status: Int
        /// The header fields.
        public var headers: [(name: String, value: String)] = []
        /// The body.
        public var body: [UInt8] = []

        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let api: API
    private let documents: Documents
    private let schemas: SchemaReader
    private let samples: SampleMaker
    private let check: SchemaCheck
    private let parameters: ParameterReader
    private let paths: [(operation: Operation, template: PathTemplate)]
    /// The paths of the servers, which precede those of the operations.
    private let bases: [String]

    private init(_ api: API, _ documents: Documents, _ schemas: SchemaReader) {
        self.api = api
        self.documents = documents
        self.schemas = schemas
        samples = SampleMaker(schemas: schemas, direction: .response)
        check = SchemaCheck(schemas: schemas)
        parameters = ParameterReader(shapes: samples.shapes, check: check)
        paths = api.operations.map { ($0, PathTemplate($0)) }
        let servers = api.servers + api.operations.flatMap(\.servers)
        bases = Array(Set(servers.map(Self.path) + [""])).sorted { $0.count > $1.count }
    }

    /// Reads a document; returns its errors if it has some.
    public static func read(
        _ file: String, load: @escaping (String) throws -> String
    ) -> (service: FakeService?, problems: [Problem]) {
        let documents = Documents(load: load)
        let schemas = SchemaReader(documents)
        var reader = APIReader(documents, schemas)
        guard let api = reader.read(file) else { return (nil, documents.problems) }
        for place in api.schemas { _ = schemas.schema(at: place) }
        let errors = documents.problems.filter { $0.kind == .error }
        return (errors.isEmpty ? FakeService(api, documents, schemas) : nil, errors)
    }

    private static func path(of server: API.Server) -> String {
        let url = ServiceWriter.defaultURL(of: server)
        var path = Substring(url)
        if let scheme = url.firstRange(of: "://") {
            path = url[scheme.upperBound...].drop { $0 != "/" }
        }
        while path.last == "/" { path.removeLast() }
        return String(path)
    }

    // MARK: - Responses

    /// Checks a request against the document, and responds.
    ///
    /// A request that contradicts the document gets a 400 with a list of what is wrong.
    public func respond(to request: Request) -> Response {
        for base in bases where request.path.hasPrefix(base) {
            let path = String(request.path.dropFirst(base.count))
            let matches = paths.compactMap { operation, template in
                template.values(of: path).map { (operation, $0) }
            }
            // A path without variables precedes one with them.
            let ranked = matches.sorted { $0.1.count < $1.1.count }
            guard let best = ranked.first?.0.path else { continue }
            let candidates = ranked.filter { $0.0.path == best }
            if let (operation, values) = candidates.first(where: {
                $0.0.method.uppercased() == request.method
            }) {
                if let fault = missingCredentials(in: request, operation) {
                    return Self.refusal(401, [fault])
                }
                let faults = faults(of: request, operation, values)
                return faults.isEmpty ? success(of: operation) : Self.refusal(400, faults)
            }
            let allowed = candidates.map { $0.0.method.uppercased() }.joined(separator: ", ")
            var response = Self.refusal(405, ["The path has no operation \(request.method)."])
            response.headers.append(("Allow", allowed))
            return response
        }
        return Self.refusal(404, ["The document has no path \(request.path)."])
    }

    private static func refusal(_ status: Int, _ faults: [String]) -> Response {
        let items = faults.map { Node(value: .string($0), line: 0) }
        let members = Node.Members([("problems", Node(value: .array(items), line: 0))])
        return Response(
            status: status, headers: [("Content-Type", "application/json")],
            body: Array(Node(value: .object(members), line: 0).json.utf8))
    }

    private func success(of operation: Operation) -> Response {
        let response =
            operation.responses.first(where: \.isSuccess)
            ?? operation.responses.first { $0.status == "default" } ?? operation.responses.first
        guard let response else { return Response(status: 200) }
        let status = Int(response.status) ?? 200
        let content =
            response.content.first(where: \.isJSON) ?? response.content.first
        guard let content, operation.method != "head" else { return Response(status: status) }
        var body: [UInt8] = Array("text".utf8)
        if content.isJSON || content.isEvents || content.isLines {
            let example = documents.node(at: content.place).flatMap {
                SampleMaker.example(of: $0, content.place, documents)
            }
            let json = (example ?? content.schema.map { samples.value(of: $0) })?.json ?? "null"
            let data = content.hasTextEvents ? "text" : json
            body = Array((content.isEvents ? "data: \(data)\n\n" : json).utf8)
        }
        return Response(
            status: status, headers: [("Content-Type", content.type)], body: body)
    }

    // MARK: - Paths and parameters

    /// What is missing, if the request has the credentials of none of the requirements.
    private func missingCredentials(in request: Request, _ operation: Operation) -> String? {
        let requirements = operation.security ?? api.security ?? []
        guard !requirements.isEmpty else { return nil }
        let isMet = requirements.contains { names in
            names.allSatisfy { name in
                switch api.schemes.first(where: { $0.name == name })?.kind {
                case .header(let header): request.headers[header.lowercased()] != nil
                case .query(let query): Self.pairs(of: request.query).contains { $0.name == query }
                case .cookie(let cookie):
                    Self.cookies(of: request.headers["cookie"] ?? "").contains { $0.name == cookie }
                case .basic, .bearer, .http, .token: request.headers["authorization"] != nil
                case .mutualTLS, nil: true
                }
            }
        }
        let names = requirements.map { $0.joined(separator: " and ") }.joined(separator: " or ")
        return isMet ? nil : "the credentials of \(names) are missing"
    }

    private func faults(
        of request: Request, _ operation: Operation, _ values: [String: String]
    ) -> [String] {
        let query = Self.pairs(of: request.query)
        let cookies = Self.cookies(of: request.headers["cookie"] ?? "")
        let known = Set(operation.parameters.filter { $0.location == .query }.map(\.name))
        var faults: [String] = []
        for parameter in operation.parameters {
            let name = "the \(parameter.location.rawValue) parameter \(parameter.name)"
            do throws(ParameterReader.Fault) {
                let value: Node? =
                    switch parameter.location {
                    case .path:
                        if let text = values[parameter.name] {
                            try parameters.value(ofPath: text, parameter)
                        } else {
                            nil
                        }
                    case .query where hasOwnNames(parameter):
                        parameters.object(in: query, parameter, besides: known)
                    case .query:
                        try value(of: query.filter { $0.name == parameter.name }, parameter)
                    case .header:
                        try value(
                            of: request.headers[parameter.name.lowercased()].map { [("", $0)] }
                                ?? [], parameter)
                    case .cookie:
                        try value(
                            of: cookies.filter { $0.name == parameter.name }
                                .map {
                                    ("", parameter.isJSON ? $0.value.percentDecoded : $0.value)
                                },
                            parameter)
                    }
                guard let value else {
                    // An object without required members may have none.
                    let isEmptyObject =
                        hasOwnNames(parameter)
                        && parameter.schema.map {
                            !parameters.isArray($0)
                                && samples.shapes.object(of: $0).required.isEmpty
                        } ?? true
                    if parameter.isRequired, !isEmptyObject { faults.append("\(name) is missing") }
                    continue
                }
                guard let schema = parameter.schema else { continue }
                faults += check.faults(of: value, schema).map { "\(name): \($0)" }
            } catch {
                faults.append("\(name): \(error.message)")
            }
        }
        return faults + bodyFaults(of: request, operation)
    }

    /// Whether the members of an object are query items of their own.
    private func hasOwnNames(_ parameter: Operation.Parameter) -> Bool {
        guard !parameter.isJSON, let schema = parameter.schema else { return false }
        // The items of a list have their positions as names.
        if parameter.style == "deepObject", parameters.isArray(schema) { return true }
        guard parameters.isObject(schema) else { return false }
        return parameter.style == "deepObject" || parameter.explodes
    }

    private func value(
        of pairs: [(name: String, value: String)], _ parameter: Operation.Parameter
    ) throws(ParameterReader.Fault) -> Node? {
        guard !pairs.isEmpty else { return nil }
        return try parameters.value(of: pairs.map(\.value), parameter)
    }

    private func bodyFaults(of request: Request, _ operation: Operation) -> [String] {
        guard let body = operation.body else { return [] }
        guard !request.body.isEmpty else { return body.isRequired ? ["the body is missing"] : [] }
        let type =
            (request.headers["content-type"] ?? "").split(separator: ";").first
            .map { String($0).trimmingSpaces.lowercased() } ?? ""
        guard let content = body.content.first(where: { $0.type == type || $0.type == "*/*" })
        else {
            let known = body.content.map(\.type).joined(separator: ", ")
            return ["the content type of the body is \(type), not \(known)"]
        }
        guard let schema = content.schema else { return [] }
        if content.type == "application/x-www-form-urlencoded" {
            return check.faults(of: form(in: request, schema, content), schema).map {
                "the form: \($0)"
            }
        }
        if content.type == "multipart/form-data" {
            let type = request.headers["content-type"] ?? ""
            guard let form = MultipartForm(request.body, contentType: type) else {
                return ["the body is not divided by the boundary of its content type"]
            }
            return formFaults(of: form, schema)
        }
        guard content.isJSON else { return [] }
        var reader = JSONText(String(decoding: request.body, as: UTF8.self))
        do throws(JSONText.Fault) {
            return check.faults(of: try reader.read(), schema).map { "the body: \($0)" }
        } catch {
            return ["the body is not JSON, line \(error.line): \(error.message)"]
        }
    }

    /// What is wrong with the parts of a form, by the types of their schemas.
    private func formFaults(of form: MultipartForm, _ schema: Schema) -> [String] {
        let object = samples.shapes.object(of: schema)
        var members = Node.Members()
        var faults: [String] = []
        for part in form.parts {
            let property = object.properties.first { $0.name == part.name }?.schema
            let (found, shape, _) = property.map(samples.shapes.resolved) ?? (nil, .any, false)
            var item = found
            var isList = false
            if case .array(let items) = shape {
                isList = true
                item = items.map { samples.shapes.resolved($0).schema }
            }
            let text = String(decoding: part.bytes, as: UTF8.self)
            var value = parameters.scalar(text, item)
            if part.isFile {
                value = Node(value: .string(text), line: 0)
            } else if part.type.hasSuffix("json") || item?.types.first == "object" {
                var reader = JSONText(text)
                do throws(JSONText.Fault) {
                    value = try reader.read()
                } catch {
                    faults.append(
                        "the form: $.\(part.name): the part is not JSON: \(error.message)")
                    continue
                }
            }
            if isList, value.items == nil {
                let known = members[part.name]?.items ?? []
                value = Node(value: .array(known + [value]), line: 0)
            }
            members.set(value, for: part.name)
        }
        addEmptyLists(of: object, to: &members)
        let value = Node(value: .object(members), line: 0)
        return faults + check.faults(of: value, schema).map { "the form: \($0)" }
    }

    /// Adds the lists that a form requires and does not have: an empty list has no field.
    private func addEmptyLists(of object: ObjectShape, to members: inout Node.Members) {
        for (name, schema) in object.properties
        where object.required.contains(name) && members[name] == nil {
            guard case .array = samples.shapes.resolved(schema).shape else { continue }
            members.set(Node(value: .array([]), line: 0), for: name)
        }
    }

    /// The fields of a form, by the types of their schemas.
    private func form(
        in request: Request, _ schema: Schema, _ content: Operation.Content
    ) -> Node {
        let object = samples.shapes.object(of: schema)
        let fields = Self.pairs(of: String(decoding: request.body, as: UTF8.self)).flatMap {
            name, value in
            guard let separator = content.encodings[name]?.separator,
                let member = object.schema(of: name), parameters.isArray(member), !value.isEmpty
            else { return [(name, value)] }
            return value.pieces(at: separator).map { (name, $0) }
        }
        guard case .object(var members) = parameters.form(fields, schema).value else {
            return Node(value: .null, line: 0)
        }
        addEmptyLists(of: samples.shapes.object(of: schema), to: &members)
        return Node(value: .object(members), line: 0)
    }

    // MARK: - Texts

    private static func pairs(of query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func text(_ part: Substring) -> String { part.replacing("+", with: " ").percentDecoded }
            return (text(parts[0]), parts.count > 1 ? text(parts[1]) : "")
        }
    }

    private static func cookies(of header: String) -> [(name: String, value: String)] {
        header.split(separator: ";").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]).trimmingSpaces, parts.count > 1 ? String(parts[1]) : "")
        }
    }
}
