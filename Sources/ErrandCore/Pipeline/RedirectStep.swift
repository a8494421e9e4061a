import HTTPTypes

/// Follows redirects, for every transport alike.
package struct RedirectStep: Step {
    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
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
        var fragment = Self.ownFragment(of: exchange.description)
        while response.status.kind == .redirection {
            timings += response.timings
            response.timings = timings
            visited.append(exchange.request.url)
            guard let hop = try Self.hop(response, exchange, visited, policy) else {
                return response
            }
            fragment = RedirectDecision.fragment(after: response, inheriting: fragment)
            exchange = hop
            response = try await next(exchange)
            if let fragment { response.url.fragment = fragment }
        }
        response.timings = timings + response.timings
        return response
    }

    /// What the endpoint wrote behind `#`: the request for the wire has lost it.
    static func ownFragment(of description: RequestDescription) -> String? {
        let url = description.customRequest?.url ?? description.url
        guard url.utf8.contains(UInt8(ascii: "#")) else { return nil }
        return (try? URI(parsing: url))?.fragment
    }

    /// The exchange that follows; `nil` when the answer is to be delivered.
    @inline(never)
    private static func hop(
        _ response: Response, _ exchange: Exchange, _ visited: [URI], _ policy: RedirectPolicy
    ) throws(RequestError) -> Exchange? {
        let decision = RedirectDecision.decide(
            response: response, request: exchange.request, visited: visited, policy: policy)
        switch decision {
        case .deliver: return nil
        case .fail(let error): throw error
        case .follow(let request):
            exchange.context.emit(.redirected(to: request.url.redacted, response.status))
            var next = exchange
            next.request = request
            if request.url.origin != exchange.request.url.origin {
                next.hasLeftOrigin = true
                for name in exchange.boundHeaders { next.request.headers[fields: name] = [] }
            }
            return next
        }
    }
}
