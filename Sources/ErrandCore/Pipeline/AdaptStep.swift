/// Makes the request for the wire: filters, shared headers and arguments, then the builder, then the
/// user's request processors.
package struct AdaptStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let configuration = try exchange.context.sharedConfiguration.inEnvironment()
        var exchange = try await RequestAdapter.adapt(exchange, configuration)
        if !configuration.value.requestProcessors.isEmpty {
            exchange.serialized = Shared(exchange.request)
            exchange.request = try await RequestProcessing.process(
                exchange.request, attempt: 1, of: exchange)
        }
        try Self.checkFiles(of: exchange)
        exchange.context.emit(
            .adapted(method: exchange.request.method, url: exchange.request.url.redacted))
        return try await next(exchange)
    }

    /// A file that cannot be read is told before anything is sent, whatever the transport.
    private static func checkFiles(of exchange: Exchange) throws(RequestError) {
        let body = exchange.request.body
        switch body?.storage {
        case .file, .source: try body?.makeSource().close()
        case nil, .data, .stream: break
        }
    }
}
