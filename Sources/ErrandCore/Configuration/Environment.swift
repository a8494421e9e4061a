public import HTTPTypes

extension Configuration {
    /// A deployment of the service, such as `staging`.
    ///
    /// Stored in ``Configuration/environments`` under a name, selected by
    /// ``Configuration/environment``:
    ///
    ///     configuration.environments = [
    ///         "live": .init(baseURL: "https://api.example.com/"),
    ///         "staging": .init(baseURL: "https://staging.example.com/", headers: [.from: "qa"]),
    ///     ]
    ///     configuration.environment = "staging"
    ///     agent.configuration = configuration     // running tasks keep theirs
    public struct Environment: Sendable, Hashable {
        /// Replaces the configuration's base URL; `nil` keeps it.
        public var baseURL: EndpointURL?
        /// Replaces the configuration's CDN URL; `nil` keeps it.
        public var cdnURL: EndpointURL?
        /// Headers of every request.
        ///
        /// They override ``Configuration/sharedHeaders``, not the request's own.
        public var headers: HTTPFields

        /// Creates an environment; the defaults keep the configuration's values.
        public init(
            baseURL: EndpointURL? = nil, cdnURL: EndpointURL? = nil, headers: HTTPFields = [:]
        ) {
            self.baseURL = baseURL
            self.cdnURL = cdnURL
            self.headers = headers
        }
    }

    /// The configuration with the selected environment applied.
    ///
    /// - Throws: ``RequestError/Code/invalidConfiguration`` if there is no environment of that
    ///   name.
    package func inEnvironment() throws(RequestError) -> Configuration {
        guard let name = environment else { return self }
        guard let chosen = environments[name] else {
            let names = environments.keys.sorted().joined(separator: ", ")
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "There is no environment \(name); environments contains \(names.isEmpty ? "none" : names)."
            )
        }
        var copy = self
        if let baseURL = chosen.baseURL { copy.baseURL = baseURL }
        if let cdnURL = chosen.cdnURL { copy.cdnURL = cdnURL }
        for field in chosen.headers { copy.sharedHeaders[fields: field.name] = [] }
        for field in chosen.headers { copy.sharedHeaders.append(field) }
        return copy
    }
}

extension Configuration.Environment: CustomReflectable {
    /// The names of the headers, without their values.
    public var customMirror: Mirror {
        Mirror(self, children: ["headers": headers.map(\.name.rawName)])
    }
}
