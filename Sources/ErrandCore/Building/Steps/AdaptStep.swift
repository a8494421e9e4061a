import ErrandTransport

/// Builds the request for the wire and runs the request processors.
package final class AdaptStep: Step {
    @inline(__always)  // decision 10
    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        // Hooks have an async frame of their own.
        guard let adapted = try Self.adaptedSynchronously(pipelineRequest) else {
            return try await Self.runHooks(pipelineRequest, next)
        }
        do throws(RequestError) {
            return try await next(adapted)
        } catch {
            throw Self.named(error, adapted)
        }
    }

    @inline(never)
    private static func named(
        _ error: RequestError, _ adapted: PipelineRequest
    ) -> RequestError {
        var error = error
        error.name(adapted.request, of: adapted.context)
        return error
    }

    /// The built request; `nil` if a hook requires suspension.
    @inline(never)  // decision 10
    private static func adaptedSynchronously(
        _ pipelineRequest: PipelineRequest
    ) throws(RequestError) -> PipelineRequest? {
        pipelineRequest.context.enter(.adapting)
        let configuration = try pipelineRequest.context.sharedConfiguration.inEnvironment()
        // With interceptors, the processors run after these.
        guard !pipelineRequest.hasRequestProcessors || pipelineRequest.hasInterceptors,
            let adapted = try RequestAdapter.adaptSynchronously(pipelineRequest, configuration)
        else { return nil }
        try checkBody(of: adapted)
        emit(adapted)
        return adapted
    }

    /// Builds the request with hooks that suspend, and continues.
    private static func runHooks(
        _ pipelineRequest: PipelineRequest, _ next: Next
    ) async throws(RequestError) -> Response {
        let configuration = try pipelineRequest.context.sharedConfiguration.inEnvironment()
        let adapted =
            if pipelineRequest.hasInterceptors {
                try await RequestAdapter.adapt(pipelineRequest, configuration)
            } else {
                try await prepared(pipelineRequest, configuration)
            }
        emit(adapted)
        do throws(RequestError) {
            return try await next(adapted)
        } catch {
            throw named(error, adapted)
        }
    }

    /// The request of the first attempt, without interceptors; emits no event.
    static func prepared(
        _ pipelineRequest: PipelineRequest, _ configuration: SharedConfiguration
    ) async throws(RequestError) -> PipelineRequest {
        var adapted = try await RequestAdapter.adapt(pipelineRequest, configuration)
        if adapted.hasRequestProcessors {
            adapted = try await RequestProcessing.firstAttempt(of: adapted)
        }
        try checkBody(of: adapted)
        return adapted
    }

    /// Fails before anything is sent if a file of the body cannot be read.
    private static func checkBody(of pipelineRequest: PipelineRequest) throws(RequestError) {
        try pipelineRequest.request.body?.checkReadable()
    }

    private static func emit(_ pipelineRequest: PipelineRequest) {
        if let body = pipelineRequest.request.body {
            // Known from now on, also while the request waits.
            let total = body.lengthToSend
            pipelineRequest.context.progress.update { $0.totalBytesToSend = total }
        }
        pipelineRequest.context.description.onAdapted?(pipelineRequest.request.url)
        pipelineRequest.context.enter(.waiting)
        let context = pipelineRequest.context
        if context.retriesProcessing { context.keep(builtRequest: pipelineRequest.request) }
        context.emit(
            .adapted(
                method: pipelineRequest.request.method,
                url: pipelineRequest.request.url.withoutSecrets))
    }
}
