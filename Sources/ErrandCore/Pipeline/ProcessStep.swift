import ErrandJSON

/// Runs the configuration's processors, then the endpoint's own, then makes the typed output.
package struct ProcessStep: Step {
    package func concerns(_ exchange: Exchange) -> Bool {
        let context = exchange.context
        return context.description.decode != nil || context.description.removesNulls
            || context.description.errorDecoder != nil || !context.description.processors.isEmpty
            || !context.configuration.responseProcessors.isEmpty
            || !context.configuration.errorProcessors.isEmpty
            || context.configuration.errorRecovery != nil
    }

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        let failure: RequestError
        do {
            let answer = try await next(exchange)
            return try await refine(answer, of: exchange)
        } catch {
            failure = await map(error, of: exchange)
        }
        guard !failure.isCancellation, let recover = exchange.configuration.errorRecovery,
            let response = await run(recover, on: failure, of: exchange)
        else { throw failure }
        try makeOutput(of: response, exchange)
        return response
    }

    private func run(
        _ recover: @escaping @Sendable (RequestError, RequestDescription) async -> Response?,
        on failure: RequestError, of exchange: Exchange
    ) async -> Response? {
        let context = exchange.context
        // It cannot throw; where it is cancelled its answer counts for nothing.
        return (try? await exchange.scope.run { await recover(failure, context.description) })
            ?? nil
    }

    /// What processors or the decoder refuse is taken out of the store: it would be refused again for as long as
    /// it is fresh.
    private func refine(
        _ answer: Response, of exchange: Exchange
    ) async throws(RequestError) -> Response {
        exchange.context.enter(.processing)
        do {
            var response = answer
            if exchange.description.removesNulls { response.removeNulls() }
            for processor in exchange.configuration.responseProcessors {
                response = try await run(processor, on: response, exchange.scope)
            }
            for processor in exchange.description.processors {
                response = try await run(processor, on: response, exchange.scope)
            }
            try makeOutput(of: response, exchange)
            return response
        } catch {
            if !error.isCancellation { exchange.context.dropStored() }
            throw error
        }
    }

    private func makeOutput(of response: Response, _ exchange: Exchange) throws(RequestError) {
        guard let decode = exchange.description.decode else { return }
        exchange.context.keep(output: try decode(response, exchange.configuration.jsonDecoder))
    }

    private func run(
        _ processor: any ResponseProcessor, on response: Response, _ scope: CancellationScope
    ) async throws(RequestError) -> Response {
        do {
            return try await scope.run {
                try await processor.process(response, attempt: response.attempts)
            }
        } catch var error as RequestError {
            if error.response == nil, !error.isCancellation { error.response = response }
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw RequestError(
                .processingFailed, stage: .process,
                "A processor rejected the answer: \(type(of: error)). The thrown error is underlying.",
                response: response, underlying: error, attempts: response.attempts)
        }
    }

    private func map(_ error: RequestError, of exchange: Exchange) async -> RequestError {
        guard !error.isCancellation else { return error }
        exchange.context.enter(.processing)
        var error = error
        if let decoder = exchange.description.errorDecoder, error.body == nil {
            error.body = decoder.body(of: error.response)
        }
        for processor in exchange.configuration.errorProcessors {
            let before = error
            // It cannot throw; where it is cancelled its answer counts for nothing.
            let after = try? await exchange.scope.run { await processor(before) }
            error = after ?? before
        }
        return error
    }
}
