/// Runs the user's request processors on a copy: each attempt begins with what serialization made.
enum RequestProcessing {
    /// The request as the processors want it for this attempt.
    ///
    /// - Throws: ``RequestError/Code/adaptationFailed``, or the `RequestError` that a processor throws.
    static func process(
        _ request: TransportRequest, attempt: Int, of exchange: Exchange
    ) async throws(RequestError) -> TransportRequest {
        let context = exchange.context
        var request = request
        for processor in context.configuration.requestProcessors {
            let before = request
            request = try await UserCode.run("A request processor", exchange.scope) {
                var copy = before
                try await processor.process(&copy, of: context.description, attempt: attempt)
                return copy
            }
        }
        return request
    }
}

/// Runs code of the user's in the pipeline, and gives what it throws a code and a stage.
enum UserCode {
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
                "\(what) threw \(type(of: error)); nothing was sent. The thrown error is underlying.",
                underlying: error)
        }
    }
}
