package import ErrandTransport

extension RequestAgent {
    /// Returns the request that an endpoint would send, without sending it.
    ///
    /// ``Configuration/prepare``, providers, compression and request processors (as for attempt 1) have run, and the cookies of the jar are
    /// included. Fields that are added during sending are not: credentials of `Configuration.authenticators`, an
    /// idempotency key, the `Range` of a download. ``TransportRequest/curlCommand(redactsSecrets:)`` prints the request
    /// for a shell.
    ///
    /// - Throws: The errors that a request ends with before anything is sent.
    public func transportRequest(
        for description: RequestDescription
    ) async throws(RequestError) -> TransportRequest {
        let jar = cookieJar
        return try await PipelineRequest.build(description, configuration, transport) {
            (pipelineRequest) throws(RequestError) in
            let configuration = try pipelineRequest.task.sharedConfiguration.inEnvironment()
            let adapted = try await AdaptStep.prepared(pipelineRequest, configuration)
            var request = adapted.request
            if adapted.task.description.uses.contains(.cookies), configuration.value.usesCookies {
                Cookie.add(jar.cookies(for: request.url), to: &request.headers)
            }
            return request
        }
    }
}

extension PipelineRequest {
    /// Builds the request of a description outside the pipeline, without request processors and cookies.
    package static func adapted(
        _ description: RequestDescription, _ configuration: Configuration,
        _ transport: any Transport
    ) async throws(RequestError) -> TransportRequest {
        try await build(description, configuration, transport) {
            (pipelineRequest) throws(RequestError) in
            let configuration = try pipelineRequest.task.sharedConfiguration.inEnvironment()
            return try await RequestAdapter.adapt(pipelineRequest, configuration).request
        }
    }

    /// Runs `body` with a task of its own; cancelling the Swift task cancels that task.
    fileprivate static func build(
        _ description: RequestDescription, _ configuration: Configuration,
        _ transport: any Transport,
        _ body: (PipelineRequest) async throws(RequestError) -> TransportRequest
    ) async throws(RequestError) -> TransportRequest {
        let task = RequestTask(
            id: TaskID.next(), description: description,
            configuration: SharedConfiguration(configuration),
            services: TaskServices(
                transport: transport, store: nil, clock: SystemClock(), cookieJar: nil))
        return try await task.perform(body)
    }
}

extension RequestTask {
    /// Runs a closure with a request of this task; cancelling the Swift task cancels the task.
    nonisolated(nonsending) func perform<Value>(
        _ body: (PipelineRequest) async throws(RequestError) -> Value
    ) async throws(RequestError) -> Value {
        let result: Result<Value, RequestError> = await withTaskCancellationHandler {
            do throws(RequestError) {
                return .success(try await body(PipelineRequest(task: self)))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            scope.cancel()
        }
        return try result.get()
    }
}
