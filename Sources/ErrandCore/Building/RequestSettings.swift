/// Settings that a request takes from its endpoint or the configuration, validated.
///
/// Descriptions and configurations are passed as parameters and not stored, because copies are
/// expensive.
enum RequestSettings {
    /// Rejects an invalid method, and validators that can never match.
    package static func check(
        _ method: HTTPMethod, of description: RequestDescription
    ) throws(RequestError) {
        guard method.isToken else {
            throw RequestError(
                .invalidMethod, stage: .build,
                "\(description.endpoint)'s method \(method.rawValue.debugDescription) is not a token: "
                    + "letters, digits and !#$%&'*+-.^_`|~ only.")
        }
        guard method.rawValue != "CONNECT" else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint)'s method is CONNECT, which opens a tunnel and is not supported."
            )
        }
        if description.acceptableStatusCodes.isEmpty, description.statusCodeValidator == nil {
            throw RequestError(
                .invalidValidator, stage: .build,
                "\(description.endpoint)'s acceptableStatusCodes is empty: no response can succeed."
            )
        }
        if description.download != nil, description.validator != nil {
            throw RequestError(
                .invalidCombination, stage: .build,
                "\(description.endpoint) is a download with a validator, but files are not parsed. "
                    + "Remove one of the two."
            )
        }
        if let shape = description.validator, let problem = shape.problem {
            throw RequestError(
                .invalidValidator, stage: .build,
                "\(description.endpoint)'s validator can never match: \(problem)")
        }
    }

    /// Rejects a body that the method does not allow.
    package static func check(
        _ body: HTTPBody?, with method: HTTPMethod, of description: RequestDescription
    ) throws(RequestError) {
        guard let body else { return }
        if method == .head || method == .trace {
            throw RequestError(
                .invalidCombination, stage: .build,
                "\(description.endpoint) sends a body with \(method), which does not allow one. "
                    + "Send the arguments in the query, or use another method.")
        }
        if method == .get && body.multipart != nil {
            throw RequestError(
                .invalidCombination, stage: .build,
                "\(description.endpoint) sends a multipart body with GET; use POST or PUT.")
        }
    }

    static func timeouts(
        of description: RequestDescription, _ configuration: Configuration
    ) throws(RequestError) -> Timeouts {
        // Not `??`, here and in the builders: its right side would copy the whole configuration.
        let timeouts =
            if let own = description.timeouts { own } else { configuration.timeouts }
        try check(timeouts.connect, "connect", of: description)
        try check(timeouts.idle, "idle", of: description)
        try check(timeouts.total, "total", of: description)
        return timeouts
    }

    private static func check(
        _ limit: Duration?, _ name: String, of description: RequestDescription
    ) throws(RequestError) {
        guard let limit, limit <= .zero else { return }
        throw RequestError(
            .invalidConfiguration, stage: .build,
            "\(description.endpoint)'s timeouts.\(name) is \(limit); it must be greater than zero, "
                + "or nil for no limit.")
    }

    /// Large files cost a third less CPU time than with 32 KiB.
    private static let downloadBufferBytes = 512 << 10

    static func options(
        for method: HTTPMethod, of description: RequestDescription, _ configuration: Configuration
    ) -> TransportOptions {
        var options = configuration.transportOptions
        options.mayReplay = method.isIdempotent
        options.allowsCellularAccess =
            options.allowsCellularAccess && description.allowsCellularAccess
        description.transportOverrides?.apply(to: &options)
        if let security = description.securityPolicy { options.security = security }
        if description.download != nil, options.receiveBufferBytes == nil {
            options.receiveBufferBytes = downloadBufferBytes
        }
        return options
    }
}
