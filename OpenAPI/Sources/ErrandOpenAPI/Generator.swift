/// Writes endpoint classes and models from an OpenAPI document.
public struct Generator {
    /// What is generated, and its form.
    public struct Options: Sendable {
        /// The access level of the output.
        public enum Access: String, Sendable {
            /// `internal`, which is not written.
            case `internal`
            /// `package`.
            case `package`
            /// `public`, with initializers.
            case `public`
        }

        /// How the output is divided into files.
        public enum Files: String, Sendable {
            /// One file for all endpoints and one for all models.
            case one
            /// One file for the endpoints of each tag, and one for each model.
            case tag
            /// One file for each endpoint and each model.
            case operation
        }

        /// The name of the service, and the prefix of its base class; `nil` takes it from the title.
        public var name: String?
        /// The access level (default internal).
        public var access = Access.internal
        /// How the output is divided (default by tag).
        public var files = Files.tag
        /// The tags whose operations are generated; empty for all.
        public var tags: Set<String> = []
        /// The beginnings of the paths whose operations are generated; empty for all.
        public var paths: [String] = []
        /// The identifiers of the operations that are generated; empty for all.
        public var operations: Set<String> = []
        /// Whether responses are checked against their schemas (default false).
        public var validates = false
        /// Whether responses for tests are written (default false).
        public var mocks = false
        /// The module of the output, which the responses for tests import; `nil` for the name of the service.
        public var module: String?
        /// Names of types by the names of schemas and the identifiers of operations.
        public var names: [String: String] = [:]

        /// Creates options with the defaults.
        public init() {}

        var isFiltered: Bool { !(tags.isEmpty && paths.isEmpty && operations.isEmpty) }
    }

    /// The sources, and what is not in them.
    public struct Output: Sendable {
        /// The files by their names, in order.
        public var files: [(name: String, text: String)] = []
        /// The files with responses for tests, by their names.
        public var mocks: [(name: String, text: String)] = []
        /// The problems, in the order of the document.
        public var problems: [Problem] = []
        /// The number of operations of the document that were asked for.
        public var operations = 0
        /// The number of endpoints that are generated.
        public var endpoints = 0
        /// The number of types of schemas.
        public var types = 0

        /// Whether the document has errors, so that nothing is generated.
        public var hasErrors: Bool { problems.contains { $0.kind == .error } }
    }

    private let options: Options
    private let load: (String) throws -> String

    /// Creates a generator.
    ///
    /// - Parameter load: Returns the text of a file: of the document, and of those that its references name.
    public init(options: Options = Options(), load: @escaping (String) throws -> String) {
        self.options = options
        self.load = load
    }

    /// Reads a document, and writes its sources.
    public func generate(_ file: String) -> Output { DeepStack.run { output(of: file) } }

    private func output(of file: String) -> Output {
        let documents = Documents(load: load)
        let schemas = SchemaReader(documents)
        var reader = APIReader(documents, schemas)
        var output = Output()
        if let api = reader.read(file) {
            for place in api.schemas { _ = schemas.schema(at: place) }
            if !documents.problems.contains(where: { $0.kind == .error }) {
                write(api, documents, schemas, &output)
            }
        }
        output.problems = documents.problems.sorted {
            ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message)
        }
        if output.hasErrors { (output.files, output.mocks) = ([], []) }
        return output
    }

    private func isWanted(_ operation: Operation) -> Bool {
        guard options.isFiltered else { return true }
        return !options.tags.isDisjoint(with: operation.tags)
            || options.paths.contains { operation.path.hasPrefix($0) }
            || operation.id.map(options.operations.contains) ?? false
    }

    // MARK: - Planning

    private func write(
        _ api: API, _ documents: Documents, _ schemas: SchemaReader, _ output: inout Output
    ) {
        let operations = api.operations.filter(isWanted)
        output.operations = operations.count
        let service = options.name ?? Self.service(of: api)
        let directions = directions(api, operations, schemas)
        let types = TypePlanner(
            schemas: schemas, directions: directions, service: service,
            names: [service, service + "Request", "Events", "MemberKey"], overrides: options.names)
        types.reserve(api.schemas)
        let endpoints = endpoints(operations, types, documents)
        if !options.isFiltered {
            // The fields of a form are those of its endpoint.
            let forms = operations.flatMap { $0.body?.content ?? [] }.filter(\.isForm)
            let places = Set(forms.compactMap { $0.schema?.reference })
            for place in api.schemas where !places.contains(place) { types.plan(place) }
        }
        let declarations = types.declarations.values.sorted { $0.fullName < $1.fullName }
        for declaration in Recursion.breakUnions(declarations) {
            documents.report(
                .refused, declaration.key.place,
                "A variant of the schema leads to the schema itself; it is left out.",
                subject: declaration.fullName)
        }
        Recursion.breakCircles(declarations)
        VariantNames.setDefaults(declarations)
        output.endpoints = endpoints.count
        output.types = types.top.count
        var plan = Plan(api: api, service: service, types: types, endpoints: endpoints)
        plan.chooseAgents(documents)
        if options.validates { plan.addShapes() }
        if options.mocks { plan.addSamples(schemas, documents) }
        let writer = SourceWriter(plan: plan, options: options)
        output.files = writer.files()
        if options.mocks { output.mocks = writer.mocks() }
    }

    private func directions(
        _ api: API, _ operations: [Operation], _ schemas: SchemaReader
    ) -> Directions {
        let requests = operations.flatMap { operation in
            operation.parameters.compactMap(\.schema)
                + (operation.body?.content.compactMap(\.schema) ?? [])
        }
        let responses = operations.flatMap { operation in
            operation.responses.flatMap { $0.content.compactMap(\.schema) }
        }
        return Directions(schemas, named: api.schemas, requests: requests, responses: responses)
    }

    /// The name of a service from its title: the first words, without those that every title has.
    private static func service(of api: API) -> String {
        let noise: Set<String> = [
            "api", "rest", "http", "openapi", "swagger", "specification", "the", "public",
        ]
        let title = api.title.prefix { $0 != "(" }
        let words = title.split { !$0.isLetter && !$0.isNumber }
            .filter { !noise.contains($0.lowercased()) }.prefix(2)
        let name = SwiftName.type(words.joined(separator: " "))
        // A name without letters is "Empty", which is reserved.
        let names = name == "Empty" ? [] : [name, name + "API"]
        return names.first { name in
            !SwiftName.reservedTypes.contains(name)
                && !SwiftName.reservedTypes.contains(name + "Request")
        } ?? "Service"
    }

    private func endpoints(
        _ operations: [Operation], _ types: TypePlanner, _ documents: Documents
    ) -> [Endpoint] {
        operations.compactMap { operation in
            let base =
                operation.id.flatMap { options.names[$0] } ?? EndpointPlanner.name(of: operation)
            let name = types.endpointName(base)
            var planner = EndpointPlanner(types: types, documents: documents)
            do throws(EndpointPlanner.Refusal) {
                return try planner.plan(operation, name: name)
            } catch {
                documents.report(
                    .refused, error.place, error.message,
                    subject: "\(name) (\(operation.method.uppercased()) \(operation.path))")
                return nil
            }
        }
    }
}
