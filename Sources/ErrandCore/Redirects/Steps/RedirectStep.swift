import ErrandTransport
import HTTPTypes

/// Follows redirects, in the same way for every transport.
package final class RedirectStep: DirectStep {
    /// Waits if the store has a redirect for the request.
    package func before(_ pipelineRequest: inout PipelineRequest) -> Passing {
        pipelineRequest.cache.redirects?.first == nil ? .unchanged : .waits
    }

    package func after(
        _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
    ) -> Bool {
        switch result {
        case .success(let response): !(300..<400).contains(response.statusCode)
        case .failure(let error): (try? Self.head(of: error)) == nil
        }
    }

    /// Follows a redirect from the network.
    package func resume(
        _ sent: PipelineRequest, after result: Result<Response, RequestError>, next: Next
    ) async throws(RequestError) -> Response {
        switch result {
        case .success(let first): try await follow(first, sent, next, nil)
        case .failure(let error): try await follow(try Self.head(of: error), sent, next, error)
        }
    }

    /// Follows a redirect from the store.
    package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        guard let stored = pipelineRequest.cache.redirects?.first else {
            return try await next(pipelineRequest)
        }
        return try await follow(stored, pipelineRequest, next, nil)
    }

    /// The redirect whose body could not be received; throws other errors.
    @inline(never)
    private static func head(of error: RequestError) throws(RequestError) -> Response {
        guard let response = error.responseWithLostBody, response.status.kind == .redirection else {
            throw error
        }
        return response
    }

    /// Follows redirects, beginning with the first.
    ///
    /// - Parameter loss: The error that ended the body of the first one, which matters only if the
    ///   redirect is not followed.
    private func follow(
        _ first: Response, _ pipelineRequest: PipelineRequest, _ next: Next, _ loss: RequestError?
    ) async throws(RequestError) -> Response {
        if first.statusCode != 304, loss == nil {
            await pipelineRequest.cache.redirects?.received(first)
        }
        let policy =
            pipelineRequest.description.sending.redirects
            ?? pipelineRequest.configuration.redirectPolicy
        var pipelineRequest = pipelineRequest
        var response = first
        var loss = loss
        var visited: [HTTPURL] = []
        var timings: [AttemptTimings] = []
        var fragment = Self.ownFragment(of: pipelineRequest.description)
        while response.status.kind == .redirection {
            timings += response.timings
            response.timings = timings
            visited.append(pipelineRequest.request.url)
            guard
                let nextRequest = try Self.nextRequest(response, pipelineRequest, visited, policy)
            else {
                if let loss { throw loss }
                return response
            }
            fragment = RedirectDecision.fragment(after: response, inheriting: fragment)
            pipelineRequest.unsafeHops?.followed(
                response, from: pipelineRequest.request, to: nextRequest.request,
                attempt: pipelineRequest.attempt)
            pipelineRequest = nextRequest
            do {
                response = try await next(pipelineRequest)
                loss = nil
            } catch {
                response = try Self.head(of: error)
                loss = error
            }
            if let fragment { response.url.fragment = fragment }
        }
        response.timings = timings + response.timings
        return response
    }

    /// The fragment of the endpoint's URL, which the request for the wire does not have.
    static func ownFragment(of description: RequestDescription) -> String? {
        let url = description.customRequest?.url ?? description.url
        guard url.text.utf8.contains(UInt8(ascii: "#")) else { return nil }
        return (try? HTTPURL(parsingEndpoint: url.text))?.fragment
    }

    /// Applies the user's decider to a redirect; it cannot allow what the policy forbids.
    private static func overridden(
        _ decision: RedirectDecision, by decider: (ProposedRedirect) -> RedirectVerdict,
        _ response: Response, _ pipelineRequest: PipelineRequest, _ visited: [HTTPURL],
        _ policy: RedirectPolicy
    ) -> RedirectDecision {
        guard case .follow(let proposed) = decision else { return decision }
        let redirect = ProposedRedirect(
            description: pipelineRequest.description, response: response,
            original: pipelineRequest.request,
            request: proposed, count: visited.count)
        switch decider(redirect) {
        case .asPolicy: return decision
        case .deliver: return .deliver
        case .follow(let wanted):
            if pipelineRequest.cache.credentials != nil {
                // The user may be another one than that of the cache key, which the decider does not change.
                let own = pipelineRequest.changed { $0.request = wanted }.ownCredentials
                let expected = pipelineRequest.changed { $0.request = proposed }.ownCredentials
                if own != expected { pipelineRequest.cache.credentials?.change() }
            }
            return RedirectDecision.replacing(
                by: wanted, response: response, request: pipelineRequest.request,
                visited: visited, policy: policy)
        }
    }

    /// The request that follows; `nil` if the response is to be delivered.
    private static func nextRequest(
        _ response: Response, _ pipelineRequest: PipelineRequest, _ visited: [HTTPURL],
        _ policy: RedirectPolicy
    ) throws(RequestError) -> PipelineRequest? {
        var decision = RedirectDecision.decide(
            response: response, request: pipelineRequest.request, visited: visited, policy: policy)
        if case .follow(let request) = decision {
            decision = .follow(withoutBoundFields(request, pipelineRequest))
        }
        if let decider = pipelineRequest.configuration.redirectDecider {
            decision = overridden(decision, by: decider, response, pipelineRequest, visited, policy)
        }
        switch decision.checked(response) {
        case .deliver: return nil
        case .fail(let error): throw error
        case .follow(let request):
            pipelineRequest.task.emit(
                .redirected(to: request.url.withoutSecrets, response.status))
            var next = pipelineRequest
            next.request = withoutBoundFields(request, pipelineRequest)
            if next.cache.isRevalidation { next.cache.isRevalidation = false }
            try pipelineRequest.encodeBody(of: &next.request)
            if pipelineRequest.configuration.redirectDecider != nil {
                try HeaderBuilder.checkHeaders(
                    of: &next.request, changedFrom: pipelineRequest.request,
                    by: "A redirect decider")
            }
            if request.url.origin != pipelineRequest.request.url.origin {
                next.hasLeftOrigin = true
            }
            return next
        }
    }

    /// Removes the fields for the redirected request alone: the host's configured headers if the origin changes, and
    /// the conditions of the cache.
    ///
    /// These refer to the stored response of the redirected URL: a 304 of another one would confirm a response that
    /// no caller has (RFC 9111 §4.3.1). Values that a decider set are kept.
    private static func withoutBoundFields(
        _ request: TransportRequest, _ pipelineRequest: PipelineRequest
    ) -> TransportRequest {
        var bound = pipelineRequest.adaptation.boundHeaders
        if !bound.isEmpty, request.url.origin == pipelineRequest.request.url.origin { bound = [] }
        // The cache adds conditions only to a request that has none.
        if pipelineRequest.cache.isRevalidation {
            bound.formUnion([.ifNoneMatch, .ifModifiedSince])
        }
        guard !bound.isEmpty else { return request }
        var request = request
        request.headers = HTTPFields(
            request.headers.filter { field in
                !bound.contains(field.name)
                    || !pipelineRequest.request.headers[fields: field.name].contains(field)
            })
        return request
    }
}
