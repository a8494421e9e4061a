import ErrandTransport
package import HTTPTypes

/// Builds the request for the wire from a description and a configuration.
///
/// Without I/O or suspension; filters and providers have already run.
package struct RequestBuilder {
    package init() {}

    /// Builds and validates the request.
    ///
    /// - Parameters:
    ///   - sharedHeaders: The configuration's headers, including the provider's; empty if the
    ///     endpoint does not use them. The same applies to `sharedArguments`.
    ///   - endpointURL: The endpoint's URL after the filters.
    /// - Throws: An error with stage ``RequestError/Stage/build``.
    package func build(
        _ description: RequestDescription, configuration: SharedConfiguration,
        sharedHeaders: HTTPFields, sharedArguments: Arguments, url endpointURL: EndpointURL
    ) throws(RequestError) -> TransportRequest {
        // Two functions, so that the value is passed and not copied.
        let timeouts = try Self.timeouts(of: description, configuration)
        let request = try Self.request(
            of: description, configuration.value, timeouts, sharedHeaders: sharedHeaders,
            sharedArguments: sharedArguments, url: endpointURL)
        try RequestChecks.checkNumbers(of: description, configuration, request.options)
        return request
    }

    private static func request(
        of description: RequestDescription, _ configuration: Configuration, _ timeouts: Timeouts,
        sharedHeaders: HTTPFields, sharedArguments: Arguments, url endpointURL: EndpointURL
    ) throws(RequestError) -> TransportRequest {
        let method =
            if let custom = description.customRequest { custom.method } else { description.method }
        try RequestChecks.check(method, of: description)
        if description.isDownload {
            try RequestChecks.checkDownload(description, configuration)
        }
        var url: HTTPURL
        var body: HTTPBody?
        if let custom = description.customRequest {
            try RequestChecks.check(custom, in: description)
            url = try URLBuilder.url(of: description, configuration, url: custom.url)
            body = custom.body
        } else {
            url = try URLBuilder.url(of: description, configuration, url: endpointURL)
            if ArgumentPlacer.isNeeded(for: description, shared: sharedArguments) {
                let arguments = try ArgumentPlacer(
                    description, configuration, shared: sharedArguments)
                try arguments.addQuery(to: &url)
                body = try arguments.body()
            } else {
                body = description.body
            }
        }
        body = try body?.encoded(by: description.jsonEncoder(configuration))
        try RequestChecks.check(body, with: method, of: description)
        let headers = try HeaderBuilder.headers(
            of: description, configuration,
            shared: description.customRequest == nil ? sharedHeaders : HTTPFields(), url: url,
            body: body)
        // The setters cost more than the comparisons.
        if url.userInfo != nil { url.userInfo = nil }
        if url.fragment != nil { url.fragment = nil }
        let options = options(for: method, of: description, configuration)
        return TransportRequest(
            method: method, url: url, headers: headers, body: body, timeouts: timeouts,
            options: options)
    }

    private static func timeouts(
        of description: RequestDescription, _ configuration: SharedConfiguration
    ) throws(RequestError) -> Timeouts {
        // Not `??`, here and in the other builders: its right side would copy the whole configuration.
        let timeouts =
            if let own = description.timeouts { own } else { configuration.value.timeouts }
        if description.timeouts != nil || !configuration.hasValidTimeouts {
            try RequestChecks.check(timeouts, of: description)
        }
        return timeouts
    }

    /// Large files cost a third less CPU time than with 32 KiB.
    private static let downloadBufferBytes = 512 << 10

    private static func options(
        for method: HTTPMethod, of description: RequestDescription, _ configuration: Configuration
    ) -> TransportOptions {
        var options = configuration.transportOptions
        options.secretNames = configuration.secretNames
        options.mayReplay = method.isIdempotent
        options.isStreamed = description.isStreamed
        options.allowsCellularAccess =
            options.allowsCellularAccess && description.uses.contains(.cellular)
        if description.hasRareMembers { apply(description, to: &options) }
        return options
    }

    @inline(never)
    private static func apply(_ description: RequestDescription, to options: inout TransportOptions)
    {
        switch description.acceptance.format {
        case .any: options.deliversUnknownCodings = true
        case .automatic: options.deliversUnknownCodings = description.isDownload
        default: break
        }
        description.sending.transport.apply(to: &options)
        if let security = description.sending.security { options.security = security }
        if description.isDownload, options.receiveBufferBytes == nil {
            options.receiveBufferBytes = downloadBufferBytes
        }
    }

    /// The request with only the arguments that form the cache key; `nil` if the endpoint uses all.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``.
    package static func keyRequest(
        for request: TransportRequest, description: RequestDescription,
        configuration: Configuration, sharedArguments: Arguments, url endpointURL: EndpointURL
    ) throws(RequestError) -> TransportRequest? {
        guard description.customRequest == nil, let counting = description.cache.arguments
        else { return nil }
        let full = try ArgumentPlacer(description, configuration, shared: sharedArguments)
        let reduced = try ArgumentPlacer(
            description, configuration, arguments: counting, shared: sharedArguments)
        var key = request
        let own =
            full.keepsFirst
            ? try URLBuilder.url(of: description, configuration, url: endpointURL) : nil
        let query = try full.query(beside: own?.query)
        if !query.isEmpty, let before = request.url.query?.dropping(suffix: query) {
            key.url.query = before.isEmpty ? nil : String(before.dropping(suffix: "&") ?? before)
            try reduced.addQuery(to: &key.url)
        }
        if description.body == nil { key.body = try reduced.body() }
        return key
    }
}

extension PipelineRequest {
    /// Encodes a value that a hook set as the body of a request.
    func encodeBody(of request: inout TransportRequest) throws(RequestError) {
        guard let body = request.body, body.needsEncoding else { return }
        request.body = try body.encoded(by: description.jsonEncoder(configuration))
    }
}

extension CustomRequest {
    /// Creates a custom request from a request for the wire.
    public init(_ request: TransportRequest) {
        self.init(
            url: EndpointURL(request.url), method: request.method,
            headers: request.headers.map { ($0.name.rawName, $0.value) }, body: request.body)
    }
}

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
        if (description.ownCachePolicy ?? configuration.cachePolicy) == .cacheOnly {
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
