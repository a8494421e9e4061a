/// Checks of the settings that a request takes from its endpoint or the configuration.
///
/// Descriptions and configurations are passed as parameters and not stored, because copies are
/// expensive.
enum RequestChecks {
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
        if description.hasRareMembers, description.acceptance.statuses.ranges?.isEmpty == true {
            throw RequestError(
                .invalidValidator, stage: .build,
                "\(description.endpoint)'s acceptance.statuses is empty: no response can succeed."
            )
        }
        if let shape = description.validator, let problem = shape.problem {
            throw RequestError(
                .invalidValidator, stage: .build,
                "\(description.endpoint)'s validator can never match: \(problem)")
        }
        if description.validator != nil, !description.requiredFormat.acceptsJSON {
            throw .invalidCombination(
                "\(description.endpoint) has a validator, which checks JSON, but its acceptance.format "
                    + "accepts no JSON. Remove the validator, or use .json, .any or .custom.")
        }
    }

    /// Rejects settings that a download cannot follow.
    static func checkDownload(
        _ description: RequestDescription, _ configuration: Configuration
    ) throws(RequestError) {
        if description.isDownload { try description.download?.check() }
        if description.validator != nil {
            throw .invalidCombination(
                "\(description.endpoint) is a download with a validator, but files are not parsed. "
                    + "Remove one of the two.")
        }
        if let refusal = description.refusalOfTwoResponses(
            configuration.cachePolicy, part: "a download")
        {
            throw refusal
        }
        if (description.cache.policy ?? configuration.cachePolicy) == .cacheOnly {
            throw .invalidCombination(
                "\(description.endpoint) is a download with the cache policy .cacheOnly, but "
                    + "downloads are not stored. Use another cache policy.")
        }
    }

    /// Rejects overrides that a custom request replaces.
    ///
    /// Settings that only say how arguments are written, and those of the base URL, are allowed: a
    /// base class of the service may set them for all endpoints.
    static func check(
        _ custom: CustomRequest, in description: RequestDescription
    ) throws(RequestError) {
        let name: String
        if !description.url.isEmpty {
            name = "url"
        } else if description.method != .get, description.method != custom.method {
            name = "method"
        } else if description.arguments != nil {
            name = "arguments"
        } else if description.cache.arguments != nil {
            name = "cache.arguments"
        } else if description.body != nil {
            name = "body"
        } else if !description.headers.isEmpty {
            name = "headers"
        } else {
            return
        }
        throw .invalidCombination(
            "\(description.endpoint) has both a custom request and \(name). Set it in the custom "
                + "request, and remove the override.")
    }

    /// Rejects a body that the method does not allow, and trailers with invalid names.
    package static func check(
        _ body: HTTPBody?, with method: HTTPMethod, of description: RequestDescription
    ) throws(RequestError) {
        guard let body else { return }
        if method == .head || method == .trace {
            throw .invalidCombination(
                "\(description.endpoint) sends a body with \(method), which does not allow one. "
                    + "Send the arguments in the query, or use another method.")
        }
        if method == .get && body.multipart != nil {
            throw .invalidCombination(
                "\(description.endpoint) sends a multipart body with GET; use POST or PUT.")
        }
        try body.checkTrailers()
    }

    /// Rejects time limits of zero or less.
    static func check(
        _ timeouts: Timeouts, of description: RequestDescription
    ) throws(RequestError) {
        try check(timeouts.connect, "connect", of: description)
        try check(timeouts.idle, "idle", of: description)
        try check(timeouts.total, "total", of: description)
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

    /// Rejects numbers that have no meaning, so that none is changed silently.
    static func checkNumbers(
        of description: RequestDescription, _ configuration: SharedConfiguration,
        _ options: TransportOptions
    ) throws(RequestError) {
        let isOwn =
            description.hasRareMembers
            && (description.sending.redirects != nil || description.retryPolicy != nil
                || !description.sending.transport.isEmpty)
        guard isOwn || configuration.fault != nil,
            let fault = configuration.value.fault(of: description, options)
        else { return }
        throw RequestError(
            .invalidConfiguration, stage: .build, "A setting of \(description.endpoint): \(fault)")
    }
}
