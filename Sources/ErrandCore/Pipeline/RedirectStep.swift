import HTTPTypes

/// Follows redirects, for every transport alike.
package struct RedirectStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let response = try await next(exchange)
        guard response.status.kind == .redirection else { return response }
        return try await follow(response, exchange, next)
    }

    /// Goes on from a first redirect.
    private func follow(
        _ first: Response, _ exchange: Exchange, _ next: Next
    ) async throws(RequestError) -> Response {
        let policy = exchange.description.redirectPolicy ?? exchange.configuration.redirectPolicy
        var exchange = exchange
        var response = first
        var visited: [URI] = []
        var timings: [AttemptTimings] = []
        while response.status.kind == .redirection {
            timings += response.timings
            response.timings = timings
            visited.append(exchange.request.url)
            let decision = RedirectDecision.decide(
                response: response, request: exchange.request, visited: visited, policy: policy)
            switch decision {
            case .deliver: return response
            case .fail(let error): throw error
            case .follow(let request):
                exchange.context.emit(.redirected(to: request.url.redacted, response.status))
                let hasLeft = request.url.origin != exchange.request.url.origin
                exchange.request = request
                if hasLeft {
                    exchange.hasLeftOrigin = true
                    for name in exchange.boundHeaders {
                        exchange.request.headers[fields: name] = []
                    }
                }
            }
            response = try await next(exchange)
        }
        response.timings = timings + response.timings
        return response
    }
}
