import ErrandTransport
import Synchronization

/// Runs the interceptors of the configuration, then those of the endpoint, around the later steps.
package final class InterceptStep: OptionalStep {
    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        pipelineRequest.hasInterceptors
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        let chain = InterceptorChain(
            interceptors: pipelineRequest.configuration.interceptors
                + pipelineRequest.description.interceptors,
            original: pipelineRequest, next: next)
        return try await chain.run(0, pipelineRequest.request, pipelineRequest.scope)
    }
}

/// The interceptors of one request, and the steps inside them.
private struct InterceptorChain: Sendable {
    let interceptors: [any Interceptor]
    /// The request as it was built.
    let original: PipelineRequest
    let next: Next

    /// Runs the interceptor at an index with all those inside it; after the last, sends the request.
    func run(
        _ index: Int, _ request: TransportRequest, _ scope: CancellationScope
    ) async throws(RequestError) -> Response {
        guard index < interceptors.count else { return try await send(request, scope) }
        let calls = InterceptorCalls()
        var next = TransportRequest.Next(description: original.description) {
            (request) throws(RequestError) in
            try await calls.run(in: scope) { (child) throws(RequestError) in
                try await run(index + 1, request, child)
            }
        }
        let task = original.task
        next.run = TransportRequest.Next.Run(
            clock: task.clock, progress: task.hub,
            retryPolicy: task.configuration.retryPolicy, emit: { task.emit($0) })
        let result = await result(of: interceptors[index], request, next, scope)
        await calls.close(keeping: (try? result.get())?.channel)
        return try result.get()
    }

    private func result(
        of interceptor: any Interceptor, _ request: TransportRequest, _ next: TransportRequest.Next,
        _ scope: CancellationScope
    ) async -> Result<Response, RequestError> {
        do {
            return .success(
                try await scope.run { try await interceptor.intercept(request, next: next) })
        } catch let error as RequestError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(.cancelled)
        } catch {
            return .failure(
                RequestError(
                    .processingFailed, stage: .process,
                    "An interceptor threw \(type(of: error)); see the underlying error.",
                    underlying: error))
        }
    }

    private func send(
        _ request: TransportRequest, _ scope: CancellationScope
    ) async throws(RequestError) -> Response {
        try scope.check()
        var request = request
        try original.encodeBody(of: &request)
        try HeaderBuilder.checkHeaders(
            of: &request, changedFrom: original.request, by: "An interceptor")
        var changed = try InterceptedRequest.make(from: original, request)
        changed.scope = scope
        changed.task.enter(.waiting)
        do throws(RequestError) {
            if changed.hasRequestProcessors {
                changed = try await RequestProcessing.firstAttempt(of: changed)
            }
            try changed.request.body?.checkReadable()
            return changed.decodable(try await next(changed))
        } catch {
            var error = error
            error.name(changed.request, of: changed.task)
            throw error
        }
    }
}

/// Applies the changes of interceptors to a request; pure.
enum InterceptedRequest {
    /// The request for the later steps: with its own cache key, and without credentials for the
    /// origin of the original one if its URL has another origin.
    ///
    /// - Throws: The errors of ``TransportRequest/Next/callAsFunction(_:)``.
    static func make(
        from original: PipelineRequest, _ request: TransportRequest
    ) throws(RequestError) -> PipelineRequest {
        try check(request, original)
        var result = original
        result.request = request
        result.request.url.fragment = nil
        result.request.options.mayReplay =
            request.options.mayReplay && request.method.isIdempotent
        if original.task.description.isStreamed { result.request.options.isStreamed = true }
        if !request.url.hasOrigin(of: original.request.url) {
            result.request.headers = RedirectDecision.headers(
                of: request, withoutCredentialsOf: original.request,
                bound: original.adaptation.boundHeaders)
            result.request.body?.withholdSecretTrailers(
                of: original.request.body, original.request.options.secretNames)
            result.adaptation.boundHeaders = []
        }
        guard var key = original.adaptation.keyRequest else { return result }
        key.method = request.method
        key.headers = result.request.headers
        if !request.body.isSame(as: original.request.body) { key.body = request.body }
        if result.request.url != original.request.url {
            key.url = result.request.url
            if result.adaptation.keyURL != nil { result.adaptation.keyURL = key.url }
        }
        result.adaptation.key = CacheKeyBuilder.key(for: key, identity: original.cacheIdentity)
        return result
    }

    private static func check(
        _ request: TransportRequest, _ original: PipelineRequest
    ) throws(RequestError) {
        try RequestChecks.check(request.method, of: original.description)
        try RequestChecks.check(request.body, with: request.method, of: original.description)
        try RequestChecks.check(request.timeouts, of: original.description)
        var problem = request.url.problem
        if request.url.userInfo != nil {
            problem = "User and password belong into the Authorization header."
        }
        if let problem {
            throw RequestError(
                .invalidURL, stage: .adapt, "An interceptor changed the URL. \(problem)")
        }
        if request.timeouts.total != original.request.timeouts.total {
            throw RequestError(
                .invalidCombination, stage: .adapt,
                "An interceptor changed timeouts.total, which limits the whole request. Set it in the "
                    + "endpoint or the configuration.")
        }
    }
}

/// Runs the calls of one interceptor's `next`.
private final class InterceptorCalls: Sendable {
    private struct State {
        var calls = InterceptorCallState()
        var scope: CancellationScope?
        var waiter: CheckedContinuation<Void, Never>?
        /// The streamed body that the latest call has returned.
        weak var stream: BodyChannel?

        /// Forgets the streamed body, and returns it.
        mutating func takeStream() -> BodyChannel? {
            defer { stream = nil }
            return stream
        }
    }

    private let state = Mutex(State())

    /// Runs a call in a scope of its own, which the Swift task of the caller cancels, too.
    func run(
        in scope: CancellationScope,
        _ body: (CancellationScope) async throws(RequestError) -> Response
    ) async throws(RequestError) -> Response {
        let result = await scope.withChild { child -> Result<Response, RequestError> in
            let (refusal, earlier) = begin(child)
            if let refusal { return .failure(Self.error(refusal)) }
            defer { end() }
            if let earlier {
                // It may hold the permit, or the place in a queue, that this call needs.
                earlier.leave()
                await earlier.untilEnded()
            }
            return await withTaskCancellationHandler {
                do throws(RequestError) {
                    let response = try await body(child)
                    state.withLock { $0.stream = response.channel }
                    return .success(response)
                } catch {
                    return .failure(error)
                }
            } onCancel: {
                child.cancel()
            }
        }
        return try result.get()
    }

    /// Refuses further calls, and waits for the end of one that the interceptor has abandoned.
    ///
    /// A streamed body that the interceptor does not return is cancelled.
    func close(keeping stream: BodyChannel?) async {
        let (isRunning, scope, latest) = state.withLock {
            ($0.calls.close(), $0.scope, $0.takeStream())
        }
        if let latest, latest !== stream { latest.leave() }
        guard isRunning else { return }
        scope?.cancel()
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.scope != nil { state.waiter = continuation }
                return state.scope == nil
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Begins a call; returns the refusal, or the streamed body of the previous call.
    private func begin(
        _ scope: CancellationScope
    ) -> (refusal: InterceptorCallState.Refusal?, earlier: BodyChannel?) {
        state.withLock { state in
            let refusal = state.calls.begin()
            guard refusal == nil else { return (refusal, nil) }
            state.scope = scope
            return (nil, state.takeStream())
        }
    }

    private func end() {
        let waiter = state.withLock { state in
            state.scope = nil
            return state.calls.end() ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    private static func error(_ refusal: InterceptorCallState.Refusal) -> RequestError {
        let reason =
            switch refusal {
            case .concurrent: "while another call was in progress. Await one call before the next."
            case .late: "after its interceptor had returned. Await it in intercept(_:next:)."
            }
        return RequestError(
            .processingFailed, stage: .process, "An interceptor's next was called \(reason)")
    }
}
