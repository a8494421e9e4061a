/// Runs the configuration's processors, then the endpoint's own, then makes the typed output.
package struct ProcessStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        do {
            let answer = try await next(exchange)
            return try await refine(answer, of: exchange)
        } catch {
            throw await map(error, of: exchange)
        }
    }

    /// What processors or the decoder refuse is taken out of the store: it would be refused again for as long as
    /// it is fresh.
    private func refine(
        _ answer: Response, of exchange: Exchange
    ) async throws(RequestError) -> Response {
        do {
            var response = answer
            for processor in exchange.configuration.responseProcessors {
                response = try await run(processor, on: response, exchange.scope)
            }
            for processor in exchange.description.processors {
                response = try await run(processor, on: response, exchange.scope)
            }
            if let decode = exchange.description.decode {
                exchange.context.keep(output: try decode(response))
            }
            return response
        } catch {
            if !error.isCancellation { exchange.context.dropStored() }
            throw error
        }
    }

    private func run(
        _ processor: any ResponseProcessor, on response: Response, _ scope: CancellationScope
    ) async throws(RequestError) -> Response {
        do {
            return try await scope.run {
                try await processor.process(response, attempt: response.attempts)
            }
        } catch let error as RequestError {
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
        var error = error
        for processor in exchange.configuration.errorProcessors {
            let before = error
            // It cannot throw; where it is cancelled its answer counts for nothing.
            let after = try? await exchange.scope.run { await processor(before) }
            error = after ?? before
        }
        return error
    }
}
