/// Makes the request for the wire: filters, shared headers and arguments, then the builder, then the
/// user's request processors.
package struct AdaptStep: Step {
    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        // Two functions, so that the room which waiting for hooks takes is given back before the request goes on.
        let configuration = try exchange.context.sharedConfiguration.inEnvironment()
        if let adapted = try Self.adaptedAtOnce(exchange, configuration) {
            return try await next(adapted)
        }
        return try await next(try await Self.adapted(exchange, configuration))
    }

    /// `nil` where a hook has to be waited for.
    @inline(never)
    private static func adaptedAtOnce(
        _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) throws(RequestError) -> Exchange? {
        guard configuration.value.requestProcessors.isEmpty,
            let adapted = try RequestAdapter.adaptAtOnce(exchange, configuration)
        else { return nil }
        try checkBody(of: adapted)
        tell(adapted)
        return adapted
    }

    @inline(never)
    private static func adapted(
        _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> Exchange {
        let adapted = try await prepared(exchange, configuration)
        tell(adapted)
        return adapted
    }

    /// The request as it would go out first: all of this step's work, of which nobody is told.
    static func prepared(
        _ exchange: Exchange, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> Exchange {
        var adapted = try await RequestAdapter.adapt(exchange, configuration)
        if !configuration.value.requestProcessors.isEmpty {
            adapted.serialized = adapted.request
            adapted.request = try await RequestProcessing.process(
                adapted.request, attempt: 1, of: adapted)
        }
        try checkBody(of: adapted)
        return adapted
    }

    /// A file that cannot be read is told before anything is sent, whatever the transport.
    private static func checkBody(of exchange: Exchange) throws(RequestError) {
        guard let body = exchange.request.body else { return }
        switch body.storage {
        case .file, .source: try body.makeSource().close()
        case .data, .stream: break
        }
    }

    private static func tell(_ exchange: Exchange) {
        exchange.context.emit(
            .adapted(method: exchange.request.method, url: exchange.request.url.redacted))
    }
}
