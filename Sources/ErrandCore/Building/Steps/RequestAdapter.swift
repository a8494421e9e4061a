import ErrandTransport
import Foundation
import HTTPTypes

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
        guard !hasProviders(configuration) else { return nil }
        var parts = try parts(pipelineRequest.context, configuration)
        let built = try built(pipelineRequest, &parts, configuration)
        return try completed(built, parts, configuration)
    }

    static func adapt(
        _ pipelineRequest: PipelineRequest, _ configuration: SharedConfiguration
    ) async throws(RequestError) -> PipelineRequest {
        var parts = try parts(pipelineRequest.context, configuration)
        if hasProviders(configuration) {
            parts = try await provided(parts, pipelineRequest, configuration)
        }
        let built = try built(pipelineRequest, &parts, configuration)
        return try completed(built, parts, configuration)
    }

    private static func hasProviders(_ configuration: SharedConfiguration) -> Bool {
        configuration.value.headerProvider != nil || configuration.value.argumentProvider != nil
    }

    private static func parts(
        _ context: TaskContext, _ configuration: SharedConfiguration
    ) throws(RequestError) -> Parts {
        if let mistake = context.description.mistake { throw mistake }
        if context.description.isStreamed {
            try StreamRules.check(context.description, configuration.value)
        }
        return Parts(
            headers: context.description.uses.contains(.sharedHeaders)
                ? configuration.value.sharedHeaders : HTTPFields(),
            arguments: context.description.uses.contains(.sharedArguments)
                ? configuration.value.sharedArguments : Arguments())
    }

    /// The parts after the configuration's providers.
    private static func provided(
        _ parts: Parts, _ pipelineRequest: PipelineRequest, _ configuration: SharedConfiguration
    ) async throws(RequestError) -> Parts {
        let context = pipelineRequest.context
        var parts = parts
        if context.description.uses.contains(.sharedHeaders),
            let provider = configuration.value.headerProvider
        {
            let made = try await HookRunner.run(
                "The provider of shared headers", pipelineRequest.scope
            ) { try await provider() }
            for field in made { parts.headers[field.name] = nil }
            for field in made { parts.headers.append(field) }
        }
        if context.description.uses.contains(.sharedArguments),
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
        to parts: inout Parts, _ context: TaskContext, _ configuration: SharedConfiguration
    ) throws(RequestError) {
        guard context.description.uses.contains(.sharedArguments),
            context.description.customRequest == nil,
            let host = try URLBuilder.url(
                of: context.description, configuration.value, url: context.description.url
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
            try addHostArguments(to: &parts, pipelineRequest.context, configuration)
        }
        var pipelineRequest = pipelineRequest
        pipelineRequest.request = try RequestBuilder().build(
            pipelineRequest.context.description, configuration: configuration,
            sharedHeaders: parts.headers, sharedArguments: parts.arguments,
            url: pipelineRequest.context.description.url)
        return pipelineRequest
    }

    /// Adds the host's headers and the cache key, both of the final URL; then compresses the body.
    private static func completed(
        _ pipelineRequest: PipelineRequest, _ parts: Parts,
        _ configuration: SharedConfiguration
    ) throws(RequestError) -> PipelineRequest {
        let context = pipelineRequest.context
        var pipelineRequest = pipelineRequest
        if !configuration.value.hostHeaders.isEmpty {
            pipelineRequest.boundHeaders = try HostHeaders.add(
                to: &pipelineRequest.request, of: context.description,
                configuration: configuration.value)
        }
        // Before compression and processors, because a signature or an encrypted body differs each
        // time.
        if context.description.needsKey {
            let counting = try RequestBuilder.keyRequest(
                for: pipelineRequest.request, description: context.description,
                configuration: configuration.value, sharedArguments: parts.arguments,
                url: context.description.url)
            if let counting { pipelineRequest.cacheURL = counting.url }
            if pipelineRequest.hasInterceptors {
                pipelineRequest.keyRequest = counting ?? pipelineRequest.request
            }
            if context.description.needsRequestKey {
                pipelineRequest.cacheKey = CacheKeyBuilder.key(
                    for: counting ?? pipelineRequest.request,
                    identity: pipelineRequest.cacheIdentity)
            }
        }
        if let encoder = context.description.compression {
            try BodyCompression.apply(
                encoder, to: &pipelineRequest.request, endpoint: context.description.endpoint,
                isEncoded: context.description.hasOwnHeader(.contentEncoding))
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
        result.serialized = pipelineRequest.request
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
        let context = pipelineRequest.context
        var request = serialized
        let processors =
            context.configuration.requestProcessors + context.description.requestProcessors
        for processor in processors {
            let before = request
            request = try await HookRunner.run("A request processor", pipelineRequest.scope) {
                var copy = before
                try await processor(&copy, context.description, attempt)
                return copy
            }
            guard let problem = request.url.problem else { continue }
            throw RequestError(
                .invalidURL, stage: .adapt, "A request processor changed the URL. \(problem)")
        }
        if !request.url.hasOrigin(of: serialized.url) {
            request.headers = RedirectDecision.headers(
                of: request, withoutCredentialsOf: serialized, bound: pipelineRequest.boundHeaders)
            request.body?.withholdSecretTrailers(
                of: serialized.body, serialized.options.secretNames)
        }
        if context.description.isStreamed { request.options.isStreamed = true }
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
