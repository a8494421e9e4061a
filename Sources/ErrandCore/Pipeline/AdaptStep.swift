import HTTPTypes

/// Makes the request for the wire: filters, shared headers and arguments, then the builder, then the
/// user's request processors.
package struct AdaptStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let context = exchange.context
        let configuration = try context.sharedConfiguration.inEnvironment()
        var exchange = exchange

        let url = try await filter(
            context.description.url, by: configuration.value.urlFilters, of: context.description,
            exchange.scope)
        var headers = HTTPFields()
        if context.description.usesSharedHeaders {
            headers = configuration.value.sharedHeaders
            if let provider = configuration.value.headerProvider {
                let made = try await adapting("The provider of shared headers", exchange.scope) {
                    try await provider()
                }
                for field in made { headers[field.name] = nil }
                for field in made { headers.append(field) }
            }
        }
        var arguments = Arguments()
        if context.description.usesSharedArguments {
            arguments = configuration.value.sharedArguments
            if let provider = configuration.value.argumentProvider {
                let made = try await adapting("The provider of shared arguments", exchange.scope) {
                    try await provider()
                }
                arguments = arguments.merging(made)
            }
        }
        var request = try RequestBuilder().build(
            context.description, configuration: configuration.value, sharedHeaders: headers,
            sharedArguments: arguments, relativeURL: url)
        if !configuration.value.absoluteURLFilters.isEmpty {
            let text = try await filter(
                request.url.string, by: configuration.value.absoluteURLFilters,
                of: context.description, exchange.scope)
            request.url = try RequestBuilder.absoluteURL(parsing: text)
        }
        exchange.boundHeaders = try HostHeaders.add(
            to: &request, of: context.description, configuration: configuration.value)
        // Before the processors: a signature or a cipher with its nonce is another one each time.
        if context.description.needsKey {
            let counting = try RequestBuilder.keyRequest(
                for: request, description: context.description, configuration: configuration.value,
                sharedArguments: arguments)
            exchange.cacheKey = CacheKeyBuilder.key(
                for: counting ?? request,
                identity: context.description.cacheIdentity ?? configuration.value.cacheIdentity)
        }
        for processor in configuration.value.requestProcessors {
            let before = request
            request = try await adapting("A request processor", exchange.scope) {
                var copy = before
                try await processor.process(&copy, of: context.description)
                return copy
            }
        }
        try checkFiles(of: request.body)
        exchange.request = request
        exchange.context.emit(.adapted(method: request.method, url: request.url.redacted))
        return try await next(exchange)
    }

    /// A file that cannot be read is told before anything is sent, whatever the transport.
    private func checkFiles(of body: HTTPBody?) throws(RequestError) {
        switch body?.storage {
        case .file, .source: try body?.makeSource().close()
        case nil, .data, .stream: break
        }
    }

    private func filter(
        _ url: String, by filters: [any URLFilter], of description: RequestDescription,
        _ scope: CancellationScope
    ) async throws(RequestError) -> String {
        var url = url
        for filter in filters {
            let before = url
            url = try await adapting("A URL filter", scope) {
                try await filter.filter(before, of: description)
            }
        }
        return url
    }

    /// Runs the user's code and gives what it throws a stage.
    private func adapting<Value: Sendable>(
        _ what: String, _ scope: CancellationScope,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(RequestError) -> Value {
        do {
            return try await scope.run(body)
        } catch let error as RequestError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw RequestError(
                .adaptationFailed, stage: .adapt,
                "\(what) threw \(type(of: error)); nothing was sent. The thrown error is underlying.",
                underlying: error)
        }
    }
}
