import ErrandCore

/// The result of a closure of a composite, which stays on the actor of the run.
nonisolated final class CallResult<Value> {
    var result: Result<Value, any Error> = .failure(CancellationError())

    /// The value; throws the error that a function makes of the closure's error.
    func get(_ error: (any Error) -> RequestError) throws(RequestError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let thrown): throw error(thrown)
        }
    }
}

extension RequestTask.Members {
    /// Calls a closure of the composite on the caller's actor, in a Swift task that is cancelled when the run is cancelled
    /// or its deadline passes.
    ///
    /// Waits for the end of the closure, which may use objects of the caller.
    nonisolated(nonsending) func call<Value>(
        _ body: @escaping () async throws -> Value
    ) async -> CallResult<Value> {
        await call(CallResult(), body)
    }

    private func call<Value>(
        _ result: CallResult<Value>, _ body: @escaping () async throws -> Value,
        isolation: isolated (any Actor)? = #isolation
    ) async -> CallResult<Value> {
        let work = Task {
            _ = isolation
            do { result.result = .success(try await body()) } catch {
                result.result = .failure(error)
            }
        }
        await finish(work)
        return result
    }
}
