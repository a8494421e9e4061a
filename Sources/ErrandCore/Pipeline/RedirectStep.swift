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

    /// What the user's decider makes of a redirect that would be followed; it cannot allow what the policy forbids.
    private static func reconsidered(
        _ decision: RedirectDecision, by decider: (ProposedRedirect) -> RedirectVerdict,
        _ response: Response, _ exchange: Exchange, _ visited: [URI], _ policy: RedirectPolicy
    ) -> RedirectDecision {
        guard case .follow(let proposed) = decision else { return decision }
        let redirect = ProposedRedirect(
            description: exchange.description, response: response, original: exchange.request,
            request: proposed, count: visited.count)
        switch decider(redirect) {
        case .asPolicy: return decision
        case .deliver: return .deliver
        case .follow(let wanted):
            return RedirectDecision.replacing(
                by: wanted, response: response, request: exchange.request,
                visited: visited, policy: policy)
        }
    }

    /// The exchange that follows; `nil` when the answer is to be delivered.
    @inline(never)
    private static func hop(
        _ response: Response, _ exchange: Exchange, _ visited: [URI], _ policy: RedirectPolicy
    ) throws(RequestError) -> Exchange? {
        var decision = RedirectDecision.decide(
            response: response, request: exchange.request, visited: visited, policy: policy)
        if case .follow(let request) = decision { decision = .follow(released(request, exchange)) }
        if let decider = exchange.configuration.redirectDecider {
            decision = reconsidered(decision, by: decider, response, exchange, visited, policy)
        }
        switch decision {
        case .deliver: return nil
        case .fail(let error): throw error
        case .follow(let request):
            exchange.context.emit(.redirected(to: request.url.redacted, response.status))
            var next = exchange
            next.request = released(request, exchange)
            if request.url.origin != exchange.request.url.origin { next.hasLeftOrigin = true }
            return next
        }
    }

    /// Without what the headers of a host have put on, where that host is left; a decider may have others in their place.
    private static func released(
        _ request: TransportRequest, _ exchange: Exchange
    ) -> TransportRequest {
        let bound = exchange.boundHeaders
        guard !bound.isEmpty, request.url.origin != exchange.request.url.origin else {
            return request
        }
        var request = request
        request.headers = HTTPFields(
            request.headers.filter { field in
                !bound.contains(field.name)
                    || !exchange.request.headers[fields: field.name].contains(field)
            })
        return request
    }
}
