public import Dispatch
public import ErrandCore

nonisolated extension BatchRequest {
    /// Starts the members.
    ///
    /// After all of them have ended, one of the closures is called once on the main actor.
    ///
    /// The failure is an error that ``send(onStart:)`` throws.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called if the batch succeeds by its policy.
    ///   - failure: Called with the error if it does not.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (BatchRequest) -> Void = { _ in },
        failure: @escaping @MainActor (BatchRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner, success: success, failure: failure)
    }

    /// Starts the members; the closure is called once on the main actor, with a result for each request or the error.
    ///
    /// That of a ``Typed`` batch delivers the outputs, unless the closure names the type
    /// `Result<[Result<Response, RequestError>], RequestError>`.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with a result as that of ``send(onStart:)``.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest, Result<[Result<Response, RequestError>], RequestError>
            ) -> Void
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { batch, error in completion(batch, batch.result(error)) }
    }

    /// Runs the members and returns a result for each, on the caller's actor.
    ///
    /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: The error of the member that failed first, if the batch fails by its policy (never
    ///   under ``Policy/collectAll``); ``RequestError/Code/invalidConfiguration`` for a
    ///   ``Policy/quorum(_:)`` that cannot be reached; ``RequestError/Code/timedOut`` after the ``deadline``;
    ///   ``RequestError/Code/batchFailed`` if the batch is in progress already;
    ///   ``RequestError/Code/cancelled`` if the run or the calling Swift task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func send(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Result<Response, RequestError>] {
        try await perform(on: nil, onStart: onStart)
    }

    /// Starts a batch from any context and gives it up; the closure is called once, on the queue.
    ///
    /// Hooks, delegates and accessories are called on no actor. The failure is an error that ``send(onStart:)`` throws.
    @discardableResult @_disfavoredOverload
    public static func start(
        _ batch: sending BatchRequest, on queue: DispatchQueue,
        completion:
            @escaping @Sendable (Result<[Result<Response, RequestError>], RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(batch, on: nil, queue, completion: completion)
    }
}
