/// What a request takes from its endpoint or else from the configuration, checked.
struct RequestSettings {
    let description: RequestDescription
    let configuration: Configuration

    /// Refuses a method that is no token, and a validator that can never match.
    func check(_ method: HTTPMethod) throws(RequestError) {
        guard method.rawValue.isToken else {
            throw RequestError(
                .invalidMethod, stage: .build,
                "\(description.endpoint)'s method \(method.rawValue.debugDescription) is not a token: "
                    + "letters, digits and !#$%&'*+-.^_`|~ only.")
        }
        guard method.rawValue != "CONNECT" else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint)'s method is CONNECT, which opens tunnels and brings no answer."
            )
        }
        if description.acceptableStatusCodes.isEmpty {
            throw RequestError(
                .invalidValidator, stage: .build,
                "\(description.endpoint)'s acceptableStatusCodes is empty: no answer could succeed."
            )
        }
        if let shape = description.validator, let problem = shape.problem {
            throw RequestError(
                .invalidValidator, stage: .build,
                "\(description.endpoint)'s validator can never match: \(problem)")
        }
    }

    /// Refuses a body where HTTP allows none (row MET-4).
    func check(_ body: HTTPBody?, with method: HTTPMethod) throws(RequestError) {
        guard let body else { return }
        if method == .head || method == .trace {
            throw RequestError(
                .invalidCombination, stage: .build,
                "\(description.endpoint) sends a body with \(method), which must have none. "
                    + "Put the arguments into the query, or use another method.")
        }
        if method == .get && body.multipart != nil {
            throw RequestError(
                .invalidCombination, stage: .build,
                "\(description.endpoint) sends a multipart body with GET; use POST or PUT.")
        }
    }

    func timeouts() throws(RequestError) -> Timeouts {
        let timeouts = description.timeouts ?? configuration.timeouts
        for (name, limit) in [
            ("connect", timeouts.connect), ("idle", timeouts.idle), ("total", timeouts.total),
        ] {
            guard let limit, limit <= .zero else { continue }
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "\(description.endpoint)'s timeouts.\(name) is \(limit); it must be more than zero, "
                    + "or nil for no limit.")
        }
        return timeouts
    }

    func options(for method: HTTPMethod) -> TransportOptions {
        var options = configuration.transport
        options.mayReplay = method.isIdempotent
        options.allowsCellularAccess =
            options.allowsCellularAccess && description.allowsCellularAccess
        if let security = description.securityPolicy { options.security = security }
        return options
    }
}
