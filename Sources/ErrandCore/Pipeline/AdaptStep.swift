import HTTPTypes

/// Makes the request for the wire: filters, shared headers and arguments, then the builder, then the
/// user's request processors.
package struct AdaptStep: Step {
    /// What the endpoint and the configuration give to the builder.
    private struct Parts: Sendable {
        var url: String
        var headers: HTTPFields
        var arguments: Arguments
    }

    // Each stage is a function of its own and waits only where a hook is set: a suspended function keeps room for
    // everything that it names, and requests are large.
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let configuration = try exchange.context.sharedConfiguration.inEnvironment()
        var parts = Self.parts(exchange.context, configuration)
        if Self.hasProviders(configuration) {
            parts = try await provided(parts, exchange, configuration)
        }
        var exchange = try Self.built(exchange, parts, configuration)
        if !configuration.value.absoluteURLFilters.isEmpty {
            let text = try await filter(
                exchange.request.url.string, by: configuration.value.absoluteURLFilters,
                of: exchange.context, exchange.scope)
            exchange.request.url = try RequestBuilder.absoluteURL(parsing: text)
        }
        try Self.bind(&exchange, parts.arguments, configuration)
        if !configuration.value.requestProcessors.isEmpty {
            exchange.request = try await processed(exchange, configuration)
        }
        try Self.checkFiles(of: exchange)
        exchange.context.emit(
            .adapted(method: exchange.request.method, url: exchange.request.url.redacted))
        return try await next(exchange)
    }

    private static func hasProviders(_ configuration: Shared<Configuration>) -> Bool {
        !configuration.value.urlFilters.isEmpty || configuration.value.headerProvider != nil
            || configuration.value.argumentProvider != nil
    }

    private static func parts(
        _ context: TaskContext, _ configuration: Shared<Configuration>
    ) -> Parts {
        return Parts(
            url: context.description.url,
            headers: context.description.usesSharedHeaders
                ? configuration.value.sharedHeaders : [:],
            arguments: context.description.usesSharedArguments
                ? configuration.value.sharedArguments : [:])
    }

    /// The parts, after what the configuration's filters and providers make of them.
    private func provided(
        _ parts: Parts, _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> Parts {
        let context = exchange.context
        var parts = parts
        parts.url = try await filter(
            parts.url, by: configuration.value.urlFilters, of: context, exchange.scope)
        if context.description.usesSharedHeaders,
            let provider = configuration.value.headerProvider
        {
            let made = try await adapting("The provider of shared headers", exchange.scope) {
                try await provider()
            }
            for field in made { parts.headers[field.name] = nil }
            for field in made { parts.headers.append(field) }
        }
        if context.description.usesSharedArguments,
            let provider = configuration.value.argumentProvider
        {
            let made = try await adapting("The provider of shared arguments", exchange.scope) {
                try await provider()
            }
            parts.arguments = parts.arguments.merging(made)
        }
        return parts
    }

    private static func built(
        _ exchange: Exchange, _ parts: Parts, _ configuration: Shared<Configuration>
    ) throws(RequestError) -> Exchange {
        var exchange = exchange
        exchange.request = try RequestBuilder().build(
            exchange.context.description, configuration: configuration.value,
            sharedHeaders: parts.headers, sharedArguments: parts.arguments, relativeURL: parts.url)
        return exchange
    }

    /// Adds what depends on the final address: the host's headers, and the key.
    private static func bind(
        _ exchange: inout Exchange, _ arguments: Arguments, _ configuration: Shared<Configuration>
    ) throws(RequestError) {
        let context = exchange.context
        if !configuration.value.hostHeaders.isEmpty {
            exchange.boundHeaders = try HostHeaders.add(
                to: &exchange.request, of: context.description, configuration: configuration.value)
        }
        // Before the processors: a signature or a cipher with its nonce is another one each time.
        guard context.description.needsKey else { return }
        let counting = try RequestBuilder.keyRequest(
            for: exchange.request, description: context.description,
            configuration: configuration.value, sharedArguments: arguments)
        exchange.cacheKey = CacheKeyBuilder.key(
            for: counting ?? exchange.request,
            identity: context.description.cacheIdentity ?? configuration.value.cacheIdentity)
    }

    private func processed(
        _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> TransportRequest {
        var request = exchange.request
        for processor in configuration.value.requestProcessors {
            let before = request
            request = try await adapting("A request processor", exchange.scope) {
                var copy = before
                try await processor.process(&copy, of: exchange.context.description)
                return copy
            }
        }
        return request
    }

    /// A file that cannot be read is told before anything is sent, whatever the transport.
    private static func checkFiles(of exchange: Exchange) throws(RequestError) {
        let body = exchange.request.body
        switch body?.storage {
        case .file, .source: try body?.makeSource().close()
        case nil, .data, .stream: break
        }
    }

    private func filter(
        _ url: String, by filters: [any URLFilter], of context: TaskContext,
        _ scope: CancellationScope
    ) async throws(RequestError) -> String {
        var url = url
        for filter in filters {
            let before = url
            url = try await adapting("A URL filter", scope) {
                try await filter.filter(before, of: context.description)
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
