import ErrandTransport

/// Builds the request for the wire and runs the request processors.
package struct AdaptStep: Step {
    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        pipelineRequest.context.enter(.adapting)
        // Two functions, so that the async frame of the hooks is freed before the request
        // continues.
        let configuration = try pipelineRequest.context.sharedConfiguration.inEnvironment()
        if let adapted = try Self.adaptedSynchronously(pipelineRequest, configuration) {
            return try await next(adapted)
        }
        return try await next(try await Self.adapted(pipelineRequest, configuration))
    }

    /// The built request; `nil` if a hook requires suspension.
    private static func adaptedSynchronously(
        _ pipelineRequest: PipelineRequest, _ configuration: Shared<Configuration>
    ) throws(RequestError) -> PipelineRequest? {
        guard configuration.value.requestProcessors.isEmpty,
            let adapted = try RequestAdapter.adaptSynchronously(pipelineRequest, configuration)
        else { return nil }
        try checkBody(of: adapted)
        emit(adapted)
        return adapted
    }

    private static func adapted(
        _ pipelineRequest: PipelineRequest, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> PipelineRequest {
        let adapted = try await prepared(pipelineRequest, configuration)
        emit(adapted)
        return adapted
    }

    /// The request of the first attempt; emits no event.
    static func prepared(
        _ pipelineRequest: PipelineRequest, _ configuration: Shared<Configuration>
    ) async throws(RequestError) -> PipelineRequest {
        var adapted = try await RequestAdapter.adapt(pipelineRequest, configuration)
        if !configuration.value.requestProcessors.isEmpty {
            adapted.serialized = adapted.request
            adapted.request = try await RequestProcessing.process(
                adapted.request, attempt: 1, of: adapted)
        }
        try checkBody(of: adapted)
        return adapted
    }

    /// Fails before anything is sent if a file of the body cannot be read.
    private static func checkBody(of pipelineRequest: PipelineRequest) throws(RequestError) {
        guard let body = pipelineRequest.request.body else { return }
        switch body.storage {
        case .file, .multipart, .invalid: try body.makeSource().close()
        case .data, .stream: break
        }
    }

    private static func emit(_ pipelineRequest: PipelineRequest) {
        pipelineRequest.context.enter(.waiting)
        pipelineRequest.context.emit(
            .adapted(
                method: pipelineRequest.request.method, url: pipelineRequest.request.url.redacted))
    }
}
