import ErrandJSON

/// A response that the processors have accepted, with its typed output.
package struct Processed: Sendable {
    package var response: Response
    /// The decoded output of a typed endpoint.
    package var output: Shared<any Sendable>?

    package init(_ response: Response, output: Shared<any Sendable>? = nil) {
        self.response = response
        self.output = output
    }
}

/// Runs the configuration's processors, then the endpoint's, then decodes the typed output.
///
/// It runs around the list of steps, because it adds the output to their response.
package enum ProcessStep {
    static func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        let task = pipelineRequest.task
        return task.description.decode != nil || task.description.jsonDecoder != nil
            || task.sharedConfiguration.hasProcessors
            || task.description.removesNulls(task.sharedConfiguration)
            || task.description.hasRareMembers
                && (task.description.errorDecoder != nil
                    || !task.description.responseProcessors.isEmpty)
    }

    nonisolated(nonsending) static func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Processed {
        let failure: RequestError
        do {
            if pipelineRequest.task.retriesProcessing, !pipelineRequest.description.isStreamed {
                return try await repeating(pipelineRequest, next)
            }
            let response = try await next(pipelineRequest)
            if pipelineRequest.description.isStreamed { return Processed(response) }
            return try await refine(response, of: pipelineRequest)
        } catch {
            failure = await map(error, of: pipelineRequest)
        }
        guard !failure.isCancellation, let recover = pipelineRequest.configuration.errorRecovery,
            let recovered = await run(recover, on: failure, of: pipelineRequest)
        else { throw failure }
        let response = pipelineRequest.decodable(recovered)
        return try decoded(response, pipelineRequest)
    }

    /// Sends a request and processes its response; if that fails, and a decider says so, repeats the request.
    @inline(never)  // decision 10
    private static func repeating(
        _ first: PipelineRequest, _ next: Next
    ) async throws(RequestError) -> Processed {
        let task = first.task
        var attempts = 0
        // The server may have performed a request whose response could not be processed.
        var pipelineRequest = first.changed { $0.earlier.idempotencyKeys = IdempotencyKeys() }
        while true {
            let response: Response
            do {
                response = try await next(pipelineRequest)
            } catch {
                var error = error
                error.attempts = max(error.attempts, attempts)
                throw error
            }
            // A response of another transfer or of an interceptor may have a number of its own.
            attempts = max(attempts + 1, response.attempts)
            var failure: RequestError
            do {
                var refined = try await refine(response, of: pipelineRequest)
                if attempts > refined.response.attempts, attempts > 1 {
                    refined.response.attempts = attempts
                }
                return refined
            } catch {
                failure = error
            }
            failure.name(task)
            failure.attempts = attempts
            guard
                let pause = RetryStep.pause(
                    afterProcessing: failure, attempts: attempts, task)
            else { throw failure }
            task.emit(.retrying(after: pause, failure))
            task.enter(.waiting)
            try await pipelineRequest.sleep(for: pause)
            // The repetition goes on counting: all attempts of the run have one maximum.
            pipelineRequest = pipelineRequest.changed {
                $0.attempt = attempts
                $0.earlier.timings = response.timings
                $0.earlier.errors = failure.previousErrorsOfNextAttempt
            }
        }
    }

    private static func run(
        _ recover: @escaping @Sendable (RequestError, RequestDescription) async -> Response?,
        on failure: RequestError, of pipelineRequest: PipelineRequest
    ) async -> Response? {
        let task = pipelineRequest.task
        // The closure does not throw; cancellation does, and discards its result.
        return
            (try? await pipelineRequest.scope.run { await recover(failure, task.description) })
            ?? nil
    }

    /// Runs processors and the decoder; if one fails, removes the response from the store.
    ///
    /// A stored response would otherwise fail again for as long as it is fresh.
    static func refine(
        _ original: Response, of pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Processed {
        pipelineRequest.task.enter(.processing)
        do {
            var response = pipelineRequest.decodable(original)
            if pipelineRequest.description.removesNulls(pipelineRequest.task.sharedConfiguration) {
                response.removeNulls()
            }
            for processor in pipelineRequest.configuration.responseProcessors {
                response = try await run(processor, on: response, pipelineRequest.scope)
            }
            for processor in pipelineRequest.description.responseProcessors {
                response = try await run(processor, on: response, pipelineRequest.scope)
            }
            response = pipelineRequest.decodable(response)
            return try decoded(response, pipelineRequest)
        } catch {
            if !error.isCancellation { pipelineRequest.task.removeStoredEntry() }
            throw error
        }
    }

    private static func decoded(
        _ response: Response, _ pipelineRequest: PipelineRequest
    ) throws(RequestError) -> Processed {
        guard let decode = pipelineRequest.description.decode else { return Processed(response) }
        let decoder = response.decoder?.value ?? .responseDefault
        let path = pipelineRequest.description.outputPath(pipelineRequest.configuration)
        return Processed(response, output: Shared(try decode(response, decoder, path)))
    }

    private static func run(
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

    private static func map(_ error: RequestError, of pipelineRequest: PipelineRequest) async
        -> RequestError
    {
        guard !error.isCancellation else { return error }
        pipelineRequest.task.enter(.processing)
        var error = error
        error.name(pipelineRequest.task)
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
