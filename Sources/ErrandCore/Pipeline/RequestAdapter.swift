import HTTPTypes

/// What the endpoint and the configuration make together: the request as it was serialized, before processors.
struct AdaptedRequest {
    var request: TransportRequest
    var boundHeaders: Set<HTTPField.Name>
    var cacheKey: CacheKey?
}

/// Filters, shared headers and arguments, then the builder.
///
/// `AdaptStep` sends what comes of it, `RequestAgent.transportRequest(for:)` only shows it.
enum RequestAdapter {
    static func adapt(
        _ description: RequestDescription, _ configuration: Configuration
    ) async throws(RequestError) -> AdaptedRequest {
        let headers = try await sharedHeaders(for: description, configuration)
        let url = try await filteredURL(of: description, configuration)
        let arguments = try await sharedArguments(for: description, configuration, url: url)
        var request = try RequestBuilder().build(
            description, configuration: configuration, sharedHeaders: headers,
            sharedArguments: arguments, relativeURL: url)
        if !configuration.absoluteURLFilters.isEmpty {
            let text = try await filter(
                request.url.string, by: configuration.absoluteURLFilters, of: description)
            request.url = try RequestBuilder.absoluteURL(parsing: text)
        }
        let boundHeaders = try HostHeaders.add(
            to: &request, of: description, configuration: configuration)
        var cacheKey: CacheKey?
        // Before processors and compression: a signature or a cipher with its nonce is another one each time.
        if description.needsKey {
            let counting = try RequestBuilder.keyRequest(
                for: request, description: description, configuration: configuration,
                sharedArguments: arguments)
            cacheKey = CacheKeyBuilder.key(
                for: counting ?? request,
                identity: description.cacheIdentity ?? configuration.cacheIdentity)
        }
        if let encoder = description.bodyEncoder {
            try BodyCompression.apply(encoder, to: &request, endpoint: description.endpoint)
        }
        return AdaptedRequest(request: request, boundHeaders: boundHeaders, cacheKey: cacheKey)
    }

    /// The endpoint's URL behind the filters; an absolute one may be none of their business (row URL-1).
    private static func filteredURL(
        of description: RequestDescription, _ configuration: Configuration
    ) async throws(RequestError) -> String {
        guard !configuration.urlFilters.isEmpty else { return description.url }
        if !configuration.filtersAbsoluteURLs,
            (try? URI(parsing: description.url))?.isAbsoluteHTTP == true
        {
            return description.url
        }
        return try await filter(
            description.url, by: configuration.urlFilters, of: description)
    }

    private static func sharedHeaders(
        for description: RequestDescription, _ configuration: Configuration
    ) async throws(RequestError) -> HTTPFields {
        guard description.usesSharedHeaders else { return [:] }
        var headers = configuration.sharedHeaders
        guard let provider = configuration.headerProvider else { return headers }
        let made = try await UserCode.run("The provider of shared headers") {
            try await provider()
        }
        for field in made { headers[field.name] = nil }
        for field in made { headers.append(field) }
        return headers
    }

    private static func sharedArguments(
        for description: RequestDescription, _ configuration: Configuration, url: String
    ) async throws(RequestError) -> Arguments {
        guard description.usesSharedArguments else { return Arguments() }
        var arguments = configuration.sharedArguments
        if let provider = configuration.argumentProvider {
            let made = try await UserCode.run("The provider of shared arguments") {
                try await provider()
            }
            arguments = arguments.merging(made)
        }
        guard !configuration.hostArguments.isEmpty, description.customRequest == nil,
            let host = try URLBuilder.url(of: description, configuration, relativeURL: url).host
        else { return arguments }
        for pattern in configuration.hostArguments.keys.sorted(by: { $0.isWeaker(than: $1) })
        where pattern.matches(host) {
            arguments = arguments.merging(configuration.hostArguments[pattern] ?? Arguments())
        }
        return arguments
    }

    private static func filter(
        _ url: String, by filters: [any URLFilter], of description: RequestDescription
    ) async throws(RequestError) -> String {
        var url = url
        for filter in filters {
            let before = url
            url = try await UserCode.run("A URL filter") {
                try await filter.filter(before, of: description)
            }
        }
        return url
    }
}
