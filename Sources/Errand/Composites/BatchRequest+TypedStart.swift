public import Dispatch
public import ErrandCore

nonisolated extension BatchRequest.Typed {
    /// Runs the members and returns their outputs, on the caller's actor.
    ///
    /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``BatchRequest/send(onStart:)``. If the batch succeeds by its policy although a member
    ///   has no output, the error of that member: use ``results(onStart:)`` with policies other than
    ///   ``BatchRequest/Policy/failFast``.
    nonisolated(nonsending) public func values(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Values {
        try await values(on: nil, onStart: onStart)
    }

    /// Runs the members and returns the output or the error of each, on the caller's actor.
    ///
    /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``BatchRequest/send(onStart:)``.
    nonisolated(nonsending) public func results(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Results {
        try await results(on: nil, onStart: onStart)
    }

    nonisolated(nonsending) func values(
        on agent: RequestAgent?, onStart: (CompositeTask) -> Void
    ) async throws(RequestError) -> Values {
        _ = try await perform(on: agent, onStart: onStart)
        return try outputs(nil).get()
    }

    nonisolated(nonsending) func results(
        on agent: RequestAgent?, onStart: (CompositeTask) -> Void
    ) async throws(RequestError) -> Results {
        _ = try await perform(on: agent, onStart: onStart)
        return memberResults
    }

    /// Starts the batch; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - values: Called with the outputs, if all members have one.
    ///   - failure: Called with an error that ``values(onStart:)`` throws.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        owner: RequestOwner? = nil, values: @escaping @MainActor (Values) -> Void,
        failure: @escaping @MainActor (RequestError) -> Void = { _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { $0.outputs($1).call(values, failure) }
    }

    /// Starts the batch; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - results: Called with the output or the error of each member, if the batch succeeds by its policy.
    ///   - failure: Called with an error that ``results(onStart:)`` throws.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        owner: RequestOwner? = nil, results: @escaping @MainActor (Results) -> Void,
        failure: @escaping @MainActor (RequestError) -> Void = { _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { $0.allResults($1).call(results, failure) }
    }

    /// Starts the batch; the closure is called once on the main actor, with the outputs or the error.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with the result of ``values(onStart:)``.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest.Typed<Values, Results>, Result<Values, RequestError>
            ) -> Void
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { completion($0, $0.outputs($1)) }
    }

    /// Starts the members again that failed or were not started in the last run; the closure is called once on the main
    /// actor, with the outputs of all members or the error.
    ///
    /// Otherwise it is like ``BatchRequest/retryFailed(onStart:)``.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end.
    @MainActor @discardableResult
    public func retryFailed(
        owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest.Typed<Values, Results>, Result<Values, RequestError>
            ) -> Void
    ) -> CompositeTask {
        launchRetry(on: nil, owner: owner) { completion($0, $0.outputs($1)) }
    }

    /// Starts a batch from any context and gives it up; the closure is called once, on the queue, with the outputs or
    /// the error.
    ///
    /// Otherwise it is like `start(_:on:completion:)` of ``BatchRequest``.
    @discardableResult
    nonisolated public static func start(
        _ batch: sending BatchRequest.Typed<Values, Results>, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Values, RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(batch, on: nil, queue, read: { $0.outputs(nil) }, completion: completion)
    }

    /// Starts a batch from any context and gives it up; the closure is called once, on the queue, with the output or
    /// the error of each member, or with the error of the batch.
    ///
    /// Otherwise it is like `start(_:on:completion:)` of ``BatchRequest``.
    @discardableResult @_disfavoredOverload
    nonisolated public static func start(
        _ batch: sending BatchRequest.Typed<Values, Results>, on queue: DispatchQueue,
        results: @escaping @Sendable (Result<Results, RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(batch, on: nil, queue, read: { $0.allResults(nil) }, completion: results)
    }
}

extension Result where Failure == RequestError {
    /// Calls one of two closures.
    @MainActor
    func call(
        _ success: @MainActor (Success) -> Void, _ failure: @MainActor (RequestError) -> Void
    ) {
        switch self {
        case .success(let value): success(value)
        case .failure(let error): failure(error)
        }
    }
}
