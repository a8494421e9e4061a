/// All that is generated from a document.
struct Plan {
    let api: API
    let service: String
    let types: TypePlanner
    var endpoints: [Endpoint]
    /// The names of the agents; the first is that of the service.
    private(set) var agents = ["agent"]
    /// The error type that most operations have alone.
    private(set) var commonError: SwiftType?

    init(api: API, service: String, types: TypePlanner, endpoints: [Endpoint]) {
        self.api = api
        self.service = service
        self.types = types
        self.endpoints = endpoints
        var counts: [(type: SwiftType, count: Int)] = []
        for endpoint in endpoints {
            let types = endpoint.errors.map(\.type)
            guard let first = types.first, types.allSatisfy({ $0 == first }) else { continue }
            // Only a named schema is of all endpoints.
            guard case .declared(let key) = first, self.types.declarations[key]?.owner == nil else {
                continue
            }
            if let position = counts.firstIndex(where: { $0.type == first }) {
                counts[position].count += 1
            } else {
                counts.append((first, 1))
            }
        }
        commonError = counts.max { $0.count < $1.count }?.type
    }

    /// The schemas of the validators, one or more lines for each.
    private(set) var schemaLines: [String] = []

    /// Names the shapes of outputs and bodies, and writes their schemas.
    mutating func addShapes() {
        guard let file = api.schemas.first?.file ?? endpoints.first?.operation.place.file else {
            return
        }
        var text = SchemaText(types: types, file: file)
        for position in endpoints.indices {
            let endpoint = endpoints[position]
            // A stream is not checked as a whole.
            if let schema = endpoint.schema, endpoint.events == nil, endpoint.lines == nil {
                endpoints[position].shape = text.add(
                    schema.reference ?? schema.place, .response, name: "\(endpoint.name).response")
            }
            if case .json = endpoint.body,
                let schema = endpoint.operation.body?.content.first(where: \.isJSON)?.schema
            {
                endpoints[position].bodyShape = text.add(
                    schema.reference ?? schema.place, .request, name: "\(endpoint.name).body")
            }
        }
        schemaLines = text.lines
    }

    /// Makes a response for each endpoint: of the examples of the document, otherwise of the schema.
    mutating func addSamples(_ schemas: SchemaReader, _ documents: Documents) {
        let maker = SampleMaker(schemas: schemas, direction: .response)
        for position in endpoints.indices {
            let responses = endpoints[position].operation.responses
            let response =
                responses.first(where: \.isSuccess) ?? responses.first { $0.status == "default" }
            guard let content = response?.content.first(where: \.isJSON),
                let node = documents.node(at: content.place)
            else { continue }
            let sample =
                SampleMaker.example(of: node, content.place, documents)
                ?? content.schema.map { maker.value(of: $0) }
            endpoints[position].sample = sample?.json
        }
    }

    /// Gives each endpoint the agent with its credentials: one for all that share a scheme with most endpoints.
    mutating func chooseAgents(_ documents: Documents) {
        for scheme in api.schemes {
            switch scheme.kind {
            case .http(let name) where name != "digest":
                documents.report(
                    .refused, scheme.place,
                    "The HTTP scheme \(name) has no authenticator; write one.",
                    subject: scheme.name)
            case .mutualTLS:
                documents.report(
                    .refused, scheme.place,
                    "Client certificates are set in `configuration.transportOptions`.",
                    subject: scheme.name)
            default: break
            }
        }
        // Without a requirement, an operation needs no credentials, unless the document states none at all.
        let none: [[String]]? =
            api.operations.contains { !($0.security ?? []).joined().isEmpty } ? [] : nil
        let required = endpoints.map { Set(($0.operation.security ?? api.security ?? []).joined()) }
        var counts: [(schemes: Set<String>, count: Int)] = []
        for schemes in required where !schemes.isEmpty {
            if let position = counts.firstIndex(where: { $0.schemes == schemes }) {
                counts[position].count += 1
            } else {
                counts.append((schemes, 1))
            }
        }
        var sets: [Set<String>] = []
        var agentNames = NameScope(Set(agents))
        if let most = counts.max(by: { $0.count < $1.count }) { sets.append(most.schemes) }
        for position in endpoints.indices {
            let requirements = endpoints[position].operation.security ?? api.security ?? none
            if requirements?.allSatisfy(\.isEmpty) ?? false {
                endpoints[position].sendsNoCredentials = true
            }
            let together = requirements?.first { $0.count > 1 }
            if let together, !(requirements ?? []).contains(where: { $0.count == 1 }) {
                documents.report(
                    .note, endpoints[position].operation.place.child("security"),
                    "The schemes \(together.joined(separator: " and ")) are needed together; combine them in one authenticator.",
                    subject: endpoints[position].name)
            }
            let schemes = required[position]
            guard !schemes.isEmpty else { continue }
            if let known = sets.firstIndex(where: { !$0.isDisjoint(with: schemes) }) {
                endpoints[position].agent = known
            } else {
                endpoints[position].agent = sets.count
                sets.append(schemes)
                let name = SwiftName.member(schemes.sorted()[0]) + "Agent"
                agents.append(agentNames.take(name))
            }
        }
    }
}
