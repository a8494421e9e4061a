/// Writes the service: servers, credentials, agent, and the base class of the endpoints.
struct ServiceWriter {
    let api: API
    let service: String
    let access: String
    let names: TypeNames
    let commonError: SwiftType?
    /// The names of the agents, each with credentials of its own; the first is that of the service.
    let agents: [String]
    /// The servers of operations that need credentials, if they have servers of their own.
    let servers: [API.Server]
    /// Whether a form is beside arguments, so that endpoints need the encoding.
    let hasFields: Bool

    /// The URL of a server with the defaults of its variables.
    static func defaultURL(of server: API.Server) -> String {
        server.variables.reduce(server.url) {
            $0.replacing("{\($1.name)}", with: $1.defaultValue)
        }
    }

    private var server: API.Server? { api.servers.first { $0.url.contains("://") } }

    func write(to text: inout Text) {
        text.separate()
        let version = api.version.isEmpty ? "" : ", version \(api.version)"
        let title = api.title.isEmpty ? service : api.title.replacing(".", with: " ").trimmingSpaces
        text.document("The service \(title)\(version).\n\n" + (api.text ?? ""))
        text.block("nonisolated \(access)enum \(service)") { text in
            for (position, agent) in agents.enumerated() {
                text.separate()
                text.document(
                    position == 0
                        ? "The agent of the endpoints, without credentials until its configuration has some."
                        : "The agent of the endpoints that need other credentials.")
                text.add(
                    "\(access)static let \(agent) = RequestAgent(configuration: configuration())")
            }
            var scope = NameScope(Set(agents + ["agent", "configuration", "hosts"]))
            writeServers(to: &text, &scope)
            writeConfiguration(to: &text)
            _ = scope.take("server")
            for scheme in api.schemes { write(scheme, to: &text, &scope) }
        }
        writeBaseClass(to: &text)
    }

    // MARK: - Servers

    private func writeServers(to text: inout Text, _ scope: inout NameScope) {
        for (position, server) in api.servers.enumerated() where server.url.contains("://") {
            let base = position == 0 ? "server" : Self.name(of: server)
            let name = SwiftName.escaped(scope.take(base, base + "Server"))
            text.separate()
            var parameters: [String] = []
            var url = Text.escaped(server.url)
            var variables = NameScope()
            for variable in server.variables {
                let own = variables.take(SwiftName.member(variable.name))
                let type =
                    variable.values.isEmpty
                    ? "String"
                    : scope.take(
                        SwiftName.type(variable.name), SwiftName.type(name + "_" + variable.name))
                if !variable.values.isEmpty { write(variable, type, to: &text) }
                let value =
                    variable.values.isEmpty
                    ? Text.literal(variable.defaultValue)
                    : Self.names(of: variable).first { $0.value == variable.defaultValue }
                        .map { "." + $0.name }
                        ?? "\(type)(rawValue: \(Text.literal(variable.defaultValue)))"
                parameters.append("\(SwiftName.escaped(own)): \(type) = \(value)")
                url = url.replacing(
                    "{\(variable.name)}", with: Self.piece(own, in: server.url, variable))
            }
            text.separate()
            text.document(server.text, fallback: "The URL of the server.")
            if parameters.isEmpty {
                text.getter("\(access)static var \(name): EndpointURL", "\"\(url)\"")
            } else {
                text.list("\(access)static func \(name)(", parameters, ") -> EndpointURL {")
                text.indented { $0.add("\"\(url)\"") }
                text.add("}")
            }
        }
    }

    /// A value of a path may have several segments, one of a scheme decides about it.
    private static func piece(
        _ name: String, in url: String, _ variable: API.Server.Variable
    ) -> String {
        let name = SwiftName.escaped(name)
        let text = variable.values.isEmpty ? name : name + ".rawValue"
        guard let position = url.firstRange(of: "{\(variable.name)}") else { return "" }
        let before = url[..<position.lowerBound]
        if before.isEmpty { return "\\(raw: \(text))" }
        if let host = before.firstRange(of: "://"), before[host.upperBound...].contains("/") {
            return "\\(path: \(text))"
        }
        return "\\(\(name))"
    }

    private static func name(of server: API.Server) -> String {
        if let text = server.text, text.count <= 30 { return SwiftName.member(text) }
        return "server2"
    }

    private func write(_ variable: API.Server.Variable, _ type: String, to text: inout Text) {
        text.separate()
        text.document(variable.text, fallback: "The values of `\(variable.name)`.")
        text.block("\(access)struct \(type): RawRepresentable, Hashable, Sendable") { text in
            if !access.isEmpty { text.document("The value in the URL.") }
            text.add("\(access)var rawValue: String")
            if !access.isEmpty {
                text.separate()
                text.document("Creates a value, also one that the document does not name.")
                text.getter("\(access)init(rawValue: String)", "self.rawValue = rawValue")
            }
            text.separate()
            for (name, value) in Self.names(of: variable) {
                if !access.isEmpty { text.document("The value `\(value)`.") }
                text.add(
                    "\(access)static let \(SwiftName.escaped(name)) = Self(rawValue: \(Text.literal(value)))"
                )
            }
        }
    }

    /// The values of a variable with their names.
    private static func names(of variable: API.Server.Variable) -> [(name: String, value: String)] {
        var names = NameScope(["rawValue"])
        return variable.values.map { (names.take(SwiftName.member($0)), $0) }
    }

    /// The hosts that may receive credentials.
    private var hosts: [String] {
        let all = ([server].compactMap { $0 } + servers).compactMap(Self.host)
        return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static func host(of server: API.Server) -> String? {
        let url = server.variables.reduce(server.url) { url, variable in
            variable.values.isEmpty && !variable.defaultValue.contains(".")
                ? url.replacing("{\(variable.name)}", with: "*")
                : url.replacing(
                    "{\(variable.name)}",
                    with: variable.values.count > 1 ? "*" : variable.defaultValue)
        }
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let host = url[start...].prefix { $0 != "/" && $0 != ":" }
        guard let star = host.lastIndex(of: "*") else { return String(host) }
        // A pattern begins with a star and a dot.
        let rest = host[host.index(after: star)...].drop { $0 != "." }
        return rest.isEmpty ? nil : "*" + rest
    }

    /// What the document says in place of an absolute server.
    private var relative: String {
        api.servers.first.map { "The document names the server `\($0.url)` without a host" }
            ?? "The document names no absolute server"
    }

    private func writeConfiguration(to text: inout Text) {
        var parameters: [String] = []
        if let server {
            let call = server.variables.isEmpty ? "server" : "server()"
            parameters.append(
                "baseURL: EndpointURL\(api.servers.first?.url == server.url ? " = \(call)" : "")")
        } else {
            parameters.append("baseURL: EndpointURL? = nil")
        }
        let hasSchemes = !api.schemes.isEmpty
        let hosts = hosts
        let type = hosts.count > 1 ? "[HostPattern]" : "HostPattern"
        if hasSchemes, !hosts.isEmpty {
            text.separate()
            text.document("The hosts that receive credentials.")
            let literals = hosts.map { Text.literal($0) }.joined(separator: ", ")
            text.getter(
                "\(access)static var hosts: \(type)", hosts.count > 1 ? "[\(literals)]" : literals)
        }
        if hasSchemes {
            parameters.append("credentials: (any Authenticator)? = nil")
            parameters.append("hosts: \(type) = \(hosts.isEmpty ? "\"\"" : "hosts")")
        }
        text.separate()
        text.document(
            "The configuration of an agent for the service."
                + (server == nil
                    ? "\n\n\(relative), so the base URL must be set"
                        + (hasSchemes ? ", and the hosts if there are credentials." : ".")
                    : "")
                + (hasSchemes ? "\n\nOnly the hosts receive the credentials." : ""))
        text.list("\(access)static func configuration(", parameters, ") -> Configuration {")
        text.indented { text in
            guard hasSchemes else {
                text.add("Configuration(baseURL: baseURL)")
                return
            }
            text.add("var configuration = Configuration(baseURL: baseURL)")
            if hosts.count > 1 {
                text.block("if let credentials") {
                    $0.add("for host in hosts { configuration.authenticators[host] = credentials }")
                }
            } else {
                text.add("if let credentials { configuration.authenticators[hosts] = credentials }")
            }
            text.add("return configuration")
        }
        text.add("}")
    }

    // MARK: - Credentials

    private func write(
        _ scheme: API.SecurityScheme, to text: inout Text, _ scope: inout NameScope
    ) {
        switch scheme.kind {
        case .http(let other) where other != "digest": return
        case .mutualTLS: return
        default: text.separate()
        }
        let base = SwiftName.member(scheme.name)
        let name = SwiftName.escaped(scope.take(base, base + "Scheme"))
        let head = "\(access)static func \(name)("
        let result = ") -> some Authenticator {"
        func document(_ sentence: String) {
            text.document(
                "The security scheme `\(scheme.name)`: \(sentence)\n\n" + (scheme.text ?? ""))
        }
        switch scheme.kind {
        case .header(let header):
            document("a key in the header `\(header)`.")
            text.list(head, ["_ key: String"], result)
            let place =
                header.lowercased() == "authorization"
                ? ".authorization" : ".custom(\(Text.literal(header)))"
            text.indented { $0.add("StandardAuthenticator.apiKey(key, in: .header(\(place)))") }
        case .query(let query):
            document("a key in the parameter `\(query)` of the query.")
            text.list(head, ["_ key: String"], result)
            text.indented {
                $0.add("StandardAuthenticator.apiKey(key, in: .query(\(Text.literal(query))))")
            }
        case .cookie(let cookie):
            document("a key in the cookie `\(cookie)`.")
            text.list(head, ["_ key: String"], result)
            text.indented {
                $0.add(
                    "StandardAuthenticator.apiKey(\"\(Text.escaped(cookie))=\\(key)\", in: .header(.cookie))"
                )
            }
        case .basic:
            document("a user and a password (RFC 7617).")
            text.list(head, ["user: String, password: String"], result)
            text.indented { $0.add("StandardAuthenticator.basic(user: user, password: password)") }
        case .http("digest"):
            document("a user and a password (RFC 7616).")
            text.list(head, ["user: String, password: String"], result)
            text.indented { $0.add("StandardAuthenticator.digest(user: user, password: password)") }
        case .bearer, .token:
            document("a token, and a closure that refreshes it.")
            text.add(head)
            text.indented { text in
                text.add("token: @escaping @Sendable () async throws -> String?,")
                text.add("refresh: (@Sendable () async throws -> Void)? = nil")
            }
            text.add(result)
            text.indented { $0.add("StandardAuthenticator.bearer(token: token, refresh: refresh)") }
        case .http, .mutualTLS: return
        }
        text.add("}")
    }

    // MARK: - Base class

    private func writeBaseClass(to text: inout Text) {
        text.separate()
        text.document("The base class of the endpoints.")
        let head = access == "public " ? "open " : access
        text.block("\(head)class \(service)Request: BaseRequest") { text in
            let member = access == "public " ? "open " : access
            if !access.isEmpty {
                text.document("Creates a request.")
                text.add("\(access)override init() {}")
                text.separate()
            }
            text.getter("\(member)override var agent: RequestAgent", "\(service).\(agents[0])")
            if let commonError {
                text.getter(
                    "\(member)override var errorDecoder: ErrorDecoder?",
                    ".json(\(names.name(commonError, in: nil)).self)")
            }
            text.separate()
            let encoding = ["arrays: .repeated, nulls: .omit, bools: .literal"]
            if hasFields {
                text.document("Values of query and form as OpenAPI writes them.")
                text.list("static let encoding = ArgumentEncoding(", encoding, ")")
                text.separate()
            }
            text.block("\(member)override func configure(_ request: inout RequestDescription)") {
                text in
                text.add("super.configure(&request)")
                if hasFields {
                    text.add("request.encoding = \(service)Request.encoding")
                } else {
                    text.add("// Values of query and form as OpenAPI writes them.")
                    text.list("request.encoding = ArgumentEncoding(", encoding, ")")
                }
            }
        }
    }
}
