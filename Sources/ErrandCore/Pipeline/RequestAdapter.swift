import HTTPTypes

/// Filters, shared headers and arguments, then the builder, the host's headers, the key and compression: the request as
/// it is serialized, before the user's processors.
///
/// `AdaptStep` goes on with what comes of it, also where `RequestAgent.transportRequest(for:)` only shows it.
//
// Each stage is a function of its own and waits only where a hook is set: a suspended function keeps room for
// everything that it names, and requests are large.
enum RequestAdapter {
    /// What the endpoint and the configuration give to the builder.
    private struct Parts: Sendable {
        var url: String
        var headers: HTTPFields
        var arguments: Arguments
    }

    /// The request where nobody has to be waited for; `nil` where a hook wants to be.
    static func adaptAtOnce(
        _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) throws(RequestError) -> Exchange? {
        guard !hasProviders(configuration), configuration.value.absoluteURLFilters.isEmpty else {
            return nil
        }
        var parts = parts(exchange.context, configuration)
        let built = try built(exchange, &parts, configuration)
        return try bound(built, parts.arguments, configuration)
    }

    static func adapt(
        _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> Exchange {
        var parts = parts(exchange.context, configuration)
        if hasProviders(configuration) {
            parts = try await provided(parts, exchange, configuration)
        }
        var exchange = try built(exchange, &parts, configuration)
        if !configuration.value.absoluteURLFilters.isEmpty {
            let text = try await filter(
                exchange.request.url.string, by: configuration.value.absoluteURLFilters,
                of: exchange.context, exchange.scope)
            exchange.request.url = try RequestBuilder.absoluteURL(parsing: text)
        }
        return try bound(exchange, parts.arguments, configuration)
    }

    private static func hasProviders(_ configuration: Shared<Configuration>) -> Bool {
        !configuration.value.urlFilters.isEmpty || configuration.value.headerProvider != nil
            || configuration.value.argumentProvider != nil
    }

    private static func parts(
        _ context: TaskContext, _ configuration: Shared<Configuration>
    ) -> Parts {
        Parts(
            url: context.description.url,
            headers: context.description.usesSharedHeaders
                ? configuration.value.sharedHeaders : [:],
            arguments: context.description.usesSharedArguments
                ? configuration.value.sharedArguments : [:])
    }

    /// The parts, after what the configuration's filters and providers make of them.
    private static func provided(
        _ parts: Parts, _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> Parts {
        let context = exchange.context
        var parts = parts
        // An absolute URL may be none of the filters' business (row URL-1).
        if !context.description.isURLFiltered,
            configuration.value.filtersAbsoluteURLs
                || (try? URI(parsing: parts.url))?.isAbsoluteHTTP != true
        {
            parts.url = try await filter(
                parts.url, by: configuration.value.urlFilters, of: context, exchange.scope)
        }
        if context.description.usesSharedHeaders,
            let provider = configuration.value.headerProvider
        {
            let made = try await UserCode.run(
                "The provider of shared headers", exchange.scope
            ) { try await provider() }
            for field in made { parts.headers[field.name] = nil }
            for field in made { parts.headers.append(field) }
        }
        if context.description.usesSharedArguments,
            let provider = configuration.value.argumentProvider
        {
            let made = try await UserCode.run(
                "The provider of shared arguments", exchange.scope
            ) { try await provider() }
            parts.arguments = parts.arguments.merging(made)
        }
        return parts
    }

    /// Adds the arguments of the host that the joined URL names; of several patterns the more particular one wins.
    private static func addHostArguments(
        to parts: inout Parts, _ context: TaskContext, _ configuration: Shared<Configuration>
    ) throws(RequestError) {
        guard context.description.usesSharedArguments, context.description.customRequest == nil,
            let host = try URLBuilder.url(
                of: context.description, configuration.value, relativeURL: parts.url
            ).host
        else { return }
        let all = configuration.value.hostArguments
        for pattern in all.keys.sorted(by: { $0.isWeaker(than: $1) }) where pattern.matches(host) {
            parts.arguments = parts.arguments.merging(all[pattern] ?? Arguments())
        }
    }

    private static func built(
        _ exchange: Exchange, _ parts: inout Parts, _ configuration: Shared<Configuration>
    ) throws(RequestError) -> Exchange {
        if !configuration.value.hostArguments.isEmpty {
            try addHostArguments(to: &parts, exchange.context, configuration)
        }
        var exchange = exchange
        exchange.request = try RequestBuilder().build(
            exchange.context.description, configuration: configuration.value,
            sharedHeaders: parts.headers, sharedArguments: parts.arguments, relativeURL: parts.url)
        return exchange
    }

    /// Adds what depends on the final address: the host's headers, and the key; then compresses.
    private static func bound(
        _ exchange: Exchange, _ arguments: Arguments, _ configuration: Shared<Configuration>
    ) throws(RequestError) -> Exchange {
        let context = exchange.context
        var exchange = exchange
        if !configuration.value.hostHeaders.isEmpty {
            exchange.boundHeaders = try HostHeaders.add(
                to: &exchange.request, of: context.description, configuration: configuration.value)
        }
        // Before compression and processors: a signature or a cipher with its nonce is another one each time.
        if context.description.needsKey {
            let counting = try RequestBuilder.keyRequest(
                for: exchange.request, description: context.description,
                configuration: configuration.value, sharedArguments: arguments)
            if let counting { exchange.countingURL = counting.url }
            exchange.cacheKey = CacheKeyBuilder.key(
                for: counting ?? exchange.request,
                identity: context.description.cacheIdentity ?? configuration.value.cacheIdentity)
        }
        if let encoder = context.description.bodyEncoder {
            try BodyCompression.apply(
                encoder, to: &exchange.request, endpoint: context.description.endpoint)
        }
        return exchange
    }

    private static func filter(
        _ url: String, by filters: [any URLFilter], of context: TaskContext,
        _ scope: CancellationScope
    ) async throws(RequestError) -> String {
        var url = url
        for filter in filters {
            let before = url
            url = try await UserCode.run("A URL filter", scope) {
                try await filter.filter(before, of: context.description)
            }
        }
        return url
    }
}
