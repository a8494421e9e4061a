public import ErrandCore

nonisolated extension BatchRequest {
    /// Runs the members again that failed or were not started in the last run, and keeps the results of the others.
    ///
    /// The policy counts the earlier successes. Runs all members if none has run before, and none if all have
    /// succeeded. Afterwards, the outputs of a ``Typed`` batch are its `output` and `memberResults`.
    ///
    /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Returns: The results of all members, as ``send(onStart:)``.
    /// - Throws: An error of ``send(onStart:)``.
    @discardableResult
    nonisolated(nonsending) public func retryFailed(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Result<Response, RequestError>] {
        try await retryFailed(on: nil, onStart: onStart)
    }

    /// Starts the members again that failed or were not started in the last run; the closure is called once on the main
    /// actor, with a result for each request or the error.
    ///
    /// Otherwise it is like ``retryFailed(onStart:)``.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end.
    @MainActor @discardableResult @_disfavoredOverload
    public func retryFailed(
        owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest, Result<[Result<Response, RequestError>], RequestError>
            ) -> Void
    ) -> CompositeTask {
        launchRetry(on: nil, owner: owner) { batch, error in
            completion(batch, batch.result(error))
        }
    }

    nonisolated(nonsending) func retryFailed(
        on agent: RequestAgent?, onStart: (CompositeTask) -> Void
    ) async throws(RequestError) -> [Result<Response, RequestError>] {
        repeatFailed()
        defer { repeatAll() }
        return try await perform(on: agent, onStart: onStart)
    }
}

extension CompositeRun where Self: BatchRequest {
    /// Starts a run of the members without a success in the last one.
    @MainActor
    func launchRetry(
        on agent: RequestAgent?, owner: RequestOwner?,
        completion: @escaping @MainActor (Self, RequestError?) -> Void
    ) -> CompositeTask {
        repeatFailed()
        // The start has reserved the members when it returns.
        defer { repeatAll() }
        return launch(on: agent, owner: owner, completion: completion)
    }
}
