public import Dispatch
public import ErrandCore

nonisolated extension ChainRequest {
    /// Starts the chain; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called after the last member has succeeded.
    ///   - failure: Called with the error that ended the chain.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (ChainRequest) -> Void = { _ in },
        failure: @escaping @MainActor (ChainRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner, success: success, failure: failure)
    }

    /// Starts the chain; the closure is called once on the main actor, with the responses of its requests or the error.
    ///
    /// That of a ``Typed`` chain delivers the output, unless the closure names the type
    /// `Result<[Response], RequestError>`.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with a result as that of ``send(onStart:)``.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        owner: RequestOwner? = nil,
        completion: @escaping @MainActor (ChainRequest, Result<[Response], RequestError>) -> Void
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { chain, error in
            completion(chain, chain.result(error))
        }
    }

    /// Runs the chain and returns the responses of its requests in order, on the caller's actor.
    ///
    /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: The error of the member that stopped the chain; the error of ``abort(_:)``;
    ///   ``RequestError/Code/chainFailed`` if a step throws another error, or if the chain is in progress already;
    ///   ``RequestError/Code/timedOut`` after the ``deadline``;
    ///   ``RequestError/Code/cancelled`` if the run or the calling Swift task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func send(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Response] {
        try await perform(on: nil, onStart: onStart)
    }

    /// Starts a chain from any context and gives it up; the closure is called once, on the queue.
    ///
    /// Steps, hooks, delegates and accessories are called on no actor. The failure is an error that ``send(onStart:)``
    /// throws.
    @discardableResult @_disfavoredOverload
    public static func start(
        _ chain: sending ChainRequest, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<[Response], RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(chain, on: nil, queue, completion: completion)
    }
}
