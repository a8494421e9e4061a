import HTTPTypes

/// Makes the request for the wire: filters, shared headers and arguments, then the builder, then the
/// user's request processors.
package struct AdaptStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let configuration = try exchange.context.sharedConfiguration.inEnvironment()
        let adapted = try await RequestAdapter.adapt(exchange.description, configuration.value)
        var exchange = exchange
        exchange.boundHeaders = adapted.boundHeaders
        if let key = adapted.cacheKey { exchange.cacheKey = key }
        var request = adapted.request
        if !configuration.value.requestProcessors.isEmpty {
            exchange.serialized = Shared(request)
            request = try await RequestProcessing.process(request, attempt: 1, of: exchange)
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
}
