import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Builds the request for the wire and runs the request processors.
package final class AdaptStep: DirectStep {
    /// Builds the request; waits if a hook requires suspension.
    package func before(
        _ pipelineRequest: inout PipelineRequest
    ) throws(RequestError) -> Passing {
        try Self.adaptSynchronously(&pipelineRequest) ? .changed : .waits
    }

    package func after(
        _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
    ) -> Bool {
        if case .failure(let error) = result { result = .failure(Self.named(error, sent)) }
        return true
    }

    /// Builds the request with hooks that suspend, and continues.
    package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response { try await Self.runHooks(pipelineRequest, next) }

    private static func named(
        _ error: RequestError, _ adapted: PipelineRequest
    ) -> RequestError {
        var error = error
        error.name(adapted.request, of: adapted.task)
        return error
    }

    private static func adaptSynchronously(
        _ pipelineRequest: inout PipelineRequest
    ) throws(RequestError) -> Bool {
        pipelineRequest.task.enter(.adapting)
        let configuration = try pipelineRequest.task.sharedConfiguration.inEnvironment()
        if pipelineRequest.task.isPlain, let built = configuration.builtRequests {
            return try repeats(&pipelineRequest, configuration, built)
        }
        // With interceptors, the processors run after these.
        guard !pipelineRequest.hasRequestProcessors || pipelineRequest.hasInterceptors,
            let adapted = try RequestAdapter.adaptSynchronously(pipelineRequest, configuration)
        else { return false }
        try checkBody(of: adapted)
        pipelineRequest = adapted
        emit(pipelineRequest)
        return true
    }

    /// Takes the request of an earlier task, if it was built from the same URL and the same configuration alone.
    private static func repeats(
        _ pipelineRequest: inout PipelineRequest, _ configuration: SharedConfiguration,
        _ built: BuiltRequests
    ) throws(RequestError) -> Bool {
        let task = pipelineRequest.task
        if task.isURLAlone, let request = built.request(for: task.description.url.text) {
            pipelineRequest.request = request
        } else {
            guard
                let made = try RequestAdapter.adaptSynchronously(pipelineRequest, configuration)
            else { return false }
            try checkBody(of: made)
            pipelineRequest = made
            if task.isURLAlone { built.keep(made.request, for: task.description.url.text) }
        }
        emit(pipelineRequest)
        return true
    }

    private static func runHooks(
        _ pipelineRequest: PipelineRequest, _ next: Next
    ) async throws(RequestError) -> Response {
        let configuration = try pipelineRequest.task.sharedConfiguration.inEnvironment()
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
            pipelineRequest.task.updateProgress { $0.totalBytesToSend = total }
        }
        pipelineRequest.task.description.onAdapted?(pipelineRequest.request.url)
        pipelineRequest.task.enter(.waiting)
        let task = pipelineRequest.task
        if task.retriesProcessing { task.keep(builtRequest: pipelineRequest.request) }
        task.emit(
            .adapted(
                method: pipelineRequest.request.method,
                url: pipelineRequest.request.url.withoutSecrets))
    }
}

/// Builds the serialized request, before the request processors run.
///
/// In order: shared headers and arguments, builder, host headers, cache key, compression.
/// Each stage is a separate function and suspends only if a hook is set, to keep async frames
/// small. Used by `AdaptStep` and by `RequestAgent.transportRequest(for:)`.
enum RequestAdapter {
    /// The input of the builder.
    private struct Parts: Sendable {
        var headers: HTTPFields
        var arguments: Arguments
    }

    /// The request; `nil` if a hook requires suspension.
    static func adaptSynchronously(
        _ pipelineRequest: PipelineRequest, _ configuration: SharedConfiguration
    ) throws(RequestError) -> PipelineRequest? {
        guard !configuration.hasProviders else { return nil }
        var parts = try parts(pipelineRequest.task, configuration)
        let built = try built(pipelineRequest, &parts, configuration)
        return try completed(built, parts, configuration)
    }

    static func adapt(
        _ pipelineRequest: PipelineRequest, _ configuration: SharedConfiguration
    ) async throws(RequestError) -> PipelineRequest {
        var parts = try parts(pipelineRequest.task, configuration)
        if configuration.hasProviders {
            parts = try await provided(parts, pipelineRequest, configuration)
        }
        let built = try built(pipelineRequest, &parts, configuration)
        return try completed(built, parts, configuration)
    }

    private static func parts(
        _ task: RequestTask, _ configuration: SharedConfiguration
    ) throws(RequestError) -> Parts {
        if let mistake = task.description.mistake { throw mistake }
        if task.description.isStreamed {
            try StreamRules.check(task.description, configuration.value)
        }
        return Parts(
            headers: task.description.uses.contains(.sharedHeaders)
                ? configuration.value.sharedHeaders : HTTPFields(),
            arguments: task.description.uses.contains(.sharedArguments)
                ? configuration.value.sharedArguments : Arguments())
    }

    /// The parts after the configuration's providers.
    private static func provided(
        _ parts: Parts, _ pipelineRequest: PipelineRequest, _ configuration: SharedConfiguration
    ) async throws(RequestError) -> Parts {
        let task = pipelineRequest.task
        var parts = parts
        if task.description.uses.contains(.sharedHeaders),
            let provider = configuration.value.headerProvider
        {
            let made = try await HookRunner.run(
                "The provider of shared headers", pipelineRequest.scope
            ) { try await provider() }
            for field in made { parts.headers[field.name] = nil }
            for field in made { parts.headers.append(field) }
        }
        if task.description.uses.contains(.sharedArguments),
            let provider = configuration.value.argumentProvider
        {
            let made = try await HookRunner.run(
                "The provider of shared arguments", pipelineRequest.scope
            ) { try await provider() }
            parts.arguments = parts.arguments.merging(made)
        }
        return parts
    }

    /// Adds the arguments of the joined URL's host; the most specific pattern takes precedence.
    private static func addHostArguments(
        to parts: inout Parts, _ task: RequestTask, _ configuration: SharedConfiguration
    ) throws(RequestError) {
        guard task.description.uses.contains(.sharedArguments),
            task.description.customRequest == nil,
            let host = try URLBuilder.url(
                of: task.description, configuration.value, url: task.description.url
            ).host
        else { return }
        let all = configuration.value.hostArguments
        for pattern in all.keys.sorted(by: { $0.isLessSpecific(than: $1) }) {
            try pattern.check(in: "hostArguments")
            guard pattern.matches(host) else { continue }
            parts.arguments = parts.arguments.merging(all[pattern] ?? Arguments())
        }
    }

    private static func built(
        _ pipelineRequest: PipelineRequest, _ parts: inout Parts,
        _ configuration: SharedConfiguration
    ) throws(RequestError) -> PipelineRequest {
        if !configuration.value.hostArguments.isEmpty {
            try addHostArguments(to: &parts, pipelineRequest.task, configuration)
        }
        var pipelineRequest = pipelineRequest
        pipelineRequest.request = try RequestBuilder().build(
            pipelineRequest.task.description, configuration: configuration,
            sharedHeaders: parts.headers, sharedArguments: parts.arguments,
            url: pipelineRequest.task.description.url)
        return pipelineRequest
    }

    /// Adds the host's headers and the cache key, both of the final URL; then compresses the body.
    private static func completed(
        _ pipelineRequest: PipelineRequest, _ parts: Parts,
        _ configuration: SharedConfiguration
    ) throws(RequestError) -> PipelineRequest {
        let task = pipelineRequest.task
        var pipelineRequest = pipelineRequest
        if !configuration.value.hostHeaders.isEmpty {
            pipelineRequest.adaptation.boundHeaders = try HostHeaders.add(
                to: &pipelineRequest.request, of: task.description,
                configuration: configuration.value)
        }
        // Before compression and processors, because a signature or an encrypted body differs each
        // time.
        if task.description.needsKey {
            let counting = try RequestBuilder.keyRequest(
                for: pipelineRequest.request, description: task.description,
                configuration: configuration.value, sharedArguments: parts.arguments,
                url: task.description.url)
            if let counting { pipelineRequest.adaptation.keyURL = counting.url }
            if pipelineRequest.hasInterceptors {
                pipelineRequest.adaptation.keyRequest = counting ?? pipelineRequest.request
            }
            if task.description.needsRequestKey {
                pipelineRequest.adaptation.key = CacheKeyBuilder.key(
                    for: counting ?? pipelineRequest.request,
                    identity: pipelineRequest.cacheIdentity)
            }
        }
        if let encoder = task.description.compression {
            try BodyCompression.apply(
                encoder, to: &pipelineRequest.request, endpoint: task.description.endpoint,
                isEncoded: task.description.hasOwnHeader(.contentEncoding))
        }
        return pipelineRequest
    }

}

/// Runs the request processors on a copy, because each attempt starts from the serialized request.
enum RequestProcessing {
    /// The request processed for the first attempt; the serialized one is kept for later attempts.
    static func firstAttempt(
        of pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> PipelineRequest {
        var result = pipelineRequest
        result.adaptation.serialized = pipelineRequest.request
        result.request = try await process(
            pipelineRequest.request, attempt: 1, of: pipelineRequest)
        return result
    }

    /// The processed request of an attempt, without credentials for the origin of the serialized one
    /// if a processor changed the origin.
    ///
    /// - Throws: ``RequestError/Code/adaptationFailed``, the `RequestError` that a processor throws,
    ///   or ``RequestError/Code/invalidURL`` for a URL to which no request can be sent.
    static func process(
        _ serialized: TransportRequest, attempt: Int, of pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> TransportRequest {
        let task = pipelineRequest.task
        var request = serialized
        let processors =
            task.configuration.requestProcessors + task.description.requestProcessors
        for processor in processors {
            let before = request
            request = try await HookRunner.run("A request processor", pipelineRequest.scope) {
                var copy = before
                try await processor(&copy, task.description, attempt)
                return copy
            }
            guard let problem = request.url.problem else { continue }
            throw RequestError(
                .invalidURL, stage: .adapt, "A request processor changed the URL. \(problem)")
        }
        if !request.url.hasOrigin(of: serialized.url) {
            request.headers = RedirectDecision.headers(
                of: request, withoutCredentialsOf: serialized,
                bound: pipelineRequest.adaptation.boundHeaders)
            request.body?.withholdSecretTrailers(
                of: serialized.body, serialized.options.secretNames)
        }
        if task.description.isStreamed { request.options.isStreamed = true }
        try pipelineRequest.encodeBody(of: &request)
        try HeaderBuilder.checkHeaders(
            of: &request, changedFrom: serialized, by: "A request processor")
        return request
    }
}

/// Runs user code in the pipeline, and converts its errors to ``RequestError``.
enum HookRunner {
    static func run<Value: Sendable>(
        _ what: String, _ scope: CancellationScope,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(RequestError) -> Value {
        do {
            return try await scope.run(body)
        } catch let error as RequestError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw RequestError(
                .adaptationFailed, stage: .adapt,
                "\(what) threw \(type(of: error)); nothing was sent. See the underlying error.",
                underlying: error)
        }
    }
}
