import ErrandJSON

/// Runs the configuration's processors, then the endpoint's, then decodes the typed output.
package final class ProcessStep: Step {
    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        let context = pipelineRequest.context
        return context.description.decode != nil || context.description.jsonDecoder != nil
            || context.description.hasRareMembers
                && (context.description.errorDecoder != nil
                    || !context.description.responseProcessors.isEmpty)
            || context.description.removesNulls(context.configuration.json)
            || !context.configuration.responseProcessors.isEmpty
            || !context.configuration.errorProcessors.isEmpty
            || context.configuration.errorRecovery != nil
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        let failure: RequestError
        do {
            let response = try await next(pipelineRequest)
            if pipelineRequest.description.isStreamed { return response }
            if pipelineRequest.context.retriesProcessing {
                return try await refine(response, orRepeat: pipelineRequest, next)
            }
            return try await refine(response, of: pipelineRequest)
        } catch {
            failure = await map(error, of: pipelineRequest)
        }
        guard !failure.isCancellation, let recover = pipelineRequest.configuration.errorRecovery,
            let recovered = await run(recover, on: failure, of: pipelineRequest)
        else { throw failure }
        let response = pipelineRequest.decodable(recovered)
        try makeOutput(of: response, pipelineRequest)
        return response
    }

    /// Processes a response; if that fails, and a decider says so, repeats the request.
    @inline(never)  // decision 10
    private func refine(
        _ first: Response, orRepeat pipelineRequest: PipelineRequest, _ next: Next
    ) async throws(RequestError) -> Response {
        let context = pipelineRequest.context
        var (pipelineRequest, response, attempts) = (pipelineRequest, first, 0)
        while true {
            // A response of another transfer or of an interceptor may have a number of its own.
            attempts = max(attempts + 1, response.attempts)
            var failure: RequestError
            do {
                var refined = try await refine(response, of: pipelineRequest)
                if attempts > refined.attempts, attempts > 1 { refined.attempts = attempts }
                return refined
            } catch {
                failure = error
            }
            failure.name(context)
            failure.attempts = attempts
            guard
                let pause = RetryStep.pause(
                    afterProcessing: failure, attempts: attempts, context)
            else { throw failure }
            context.emit(.retrying(after: pause, failure))
            context.enter(.waiting)
            try await pipelineRequest.sleep(for: pause)
            // The repetition goes on counting: all attempts of the run have one maximum.
            pipelineRequest = pipelineRequest.changed {
                $0.attempt = attempts
                $0.earlierTimings = response.timings
                $0.earlierErrors = failure.previousErrorsOfNextAttempt
            }
            do {
                response = try await next(pipelineRequest)
            } catch {
                var error = error
                error.attempts = max(error.attempts, attempts)
                throw error
            }
        }
    }

    private func run(
        _ recover: @escaping @Sendable (RequestError, RequestDescription) async -> Response?,
        on failure: RequestError, of pipelineRequest: PipelineRequest
    ) async -> Response? {
        let context = pipelineRequest.context
        // The closure does not throw; cancellation does, and discards its result.
        return
            (try? await pipelineRequest.scope.run { await recover(failure, context.description) })
            ?? nil
    }

    /// Runs processors and the decoder; if one fails, removes the response from the store.
    ///
    /// A stored response would otherwise fail again for as long as it is fresh.
    func refine(
        _ original: Response, of pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Response {
        pipelineRequest.context.enter(.processing)
        do {
            var response = pipelineRequest.decodable(original)
            if pipelineRequest.description.removesNulls(pipelineRequest.configuration.json) {
                response.removeNulls()
            }
            for processor in pipelineRequest.configuration.responseProcessors {
                response = try await run(processor, on: response, pipelineRequest.scope)
            }
            for processor in pipelineRequest.description.responseProcessors {
                response = try await run(processor, on: response, pipelineRequest.scope)
            }
            response = pipelineRequest.decodable(response)
            try makeOutput(of: response, pipelineRequest)
            return response
        } catch {
            if !error.isCancellation { pipelineRequest.context.removeStoredEntry() }
            throw error
        }
    }

    private func makeOutput(of response: Response, _ pipelineRequest: PipelineRequest)
        throws(RequestError)
    {
        guard let decode = pipelineRequest.description.decode else { return }
        let decoder = response.decoder?.value ?? .responseDefault
        let path = pipelineRequest.description.outputPath(pipelineRequest.configuration)
        pipelineRequest.context.keep(output: try decode(response, decoder, path))
    }

    private func run(
        _ processor: @escaping @Sendable (inout Response) async throws -> Void,
        on response: Response, _ scope: CancellationScope
    ) async throws(RequestError) -> Response {
        do {
            return try await scope.run {
                var copy = response
                try await processor(&copy)
                return copy
            }
        } catch var error as RequestError {
            if error.response == nil, !error.isCancellation { error.response = response }
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw RequestError(
                .processingFailed, stage: .process,
                "A response processor threw \(type(of: error)); see the underlying error.",
                response: response, underlying: error, attempts: response.attempts)
        }
    }

    private func map(_ error: RequestError, of pipelineRequest: PipelineRequest) async
        -> RequestError
    {
        guard !error.isCancellation else { return error }
        pipelineRequest.context.enter(.processing)
        var error = error
        error.name(pipelineRequest.context)
        if pipelineRequest.description.jsonDecoder != nil {
            error.response = error.response.map(pipelineRequest.decodable)
        }
        if let decoder = pipelineRequest.description.errorDecoder, error.body == nil {
            error.body = decoder.body(of: error.response)
        }
        for processor in pipelineRequest.configuration.errorProcessors {
            let before = error
            // The processor does not throw; cancellation does, and discards its result.
            let after = try? await pipelineRequest.scope.run {
                var copy = before
                await processor(&copy)
                return copy
            }
            error = after ?? before
        }
        return error
    }
}
