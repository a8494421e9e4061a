public import HTTPTypes

extension Configuration {
    /// One of several places where the same service lives, such as `staging`.
    ///
    /// Kept in ``Configuration/environments`` under a name, chosen by ``Configuration/environment``:
    ///
    ///     configuration.environments = [
    ///         "live": .init(baseURL: "https://api.example.com/"),
    ///         "staging": .init(baseURL: "https://staging.example.com/", headers: [.from: "qa"]),
    ///     ]
    ///     configuration.environment = "staging"
    ///     agent.configuration = configuration     // tasks under way stay where they are
    public struct Environment: Sendable, Hashable {
        /// In place of the configuration's base URL; `nil` keeps that.
        public var baseURL: String?
        /// In place of the configuration's CDN URL; `nil` keeps that.
        public var cdnURL: String?
        /// Headers of every request; stronger than ``Configuration/sharedHeaders``, the request's own win.
        public var headers: HTTPFields

        /// Makes an environment.
        ///
        /// Default: everything as the configuration has it.
        public init(baseURL: String? = nil, cdnURL: String? = nil, headers: HTTPFields = [:]) {
            self.baseURL = baseURL
            self.cdnURL = cdnURL
            self.headers = headers
        }
    }

    /// The configuration as the chosen environment makes it.
    ///
    /// - Throws: ``RequestError/Code/invalidConfiguration`` when there is no environment of that name.
    package func inEnvironment() throws(RequestError) -> Configuration {
        guard let name = environment else { return self }
        guard let chosen = environments[name] else {
            let names = environments.keys.sorted().joined(separator: ", ")
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "There is no environment \(name); environments holds \(names.isEmpty ? "none" : names)."
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

extension Shared where Value == Configuration {
    /// The same with the chosen environment; itself where none is chosen.
    func inEnvironment() throws(RequestError) -> Shared {
        value.environment == nil ? self : Shared(try value.inEnvironment())
    }
}
