public import Dispatch
public import ErrandCore

extension RequestAgent {
    /// Runs requests concurrently on this agent and returns their outputs, each with its type.
    ///
    ///     let (user, flights) = try await agent.values(GetUser(id: 7), GetFlights(of: 7))
    ///
    /// - Throws: An error of ``BatchRequest/values(_:)``.
    nonisolated(nonsending) public func values<each Endpoint: TypedRequest>(
        _ requests: repeat each Endpoint
    ) async throws(RequestError) -> (repeat (each Endpoint).Output) {
        try await BatchRequest.values(on: self, repeat each requests)
    }

    /// Runs a batch on this agent, on the caller's actor; the agent performs all members, also those of nested batches
    /// and chains.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``BatchRequest/send(onStart:)``.
    @discardableResult
    nonisolated(nonsending) public func send(
        _ batch: BatchRequest, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Result<Response, RequestError>] {
        try await batch.perform(on: self, onStart: onStart)
    }

    /// Starts a batch on this agent, which performs all members; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called after a success.
    ///   - failure: Called with an error of ``BatchRequest/send(onStart:)``.
    @MainActor @discardableResult
    public func start(
        _ batch: BatchRequest, owner: RequestOwner? = nil,
        success: @escaping @MainActor (BatchRequest) -> Void = { _ in },
        failure: @escaping @MainActor (BatchRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        batch.launch(on: self, owner: owner, success: success, failure: failure)
    }

    /// Starts a batch on this agent, which performs all members; the closure is called once on the main actor, with a
    /// result for each request or the error.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with a result as that of ``BatchRequest/send(onStart:)``.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        _ batch: BatchRequest, owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest, Result<[Result<Response, RequestError>], RequestError>
            ) -> Void
    ) -> CompositeTask {
        batch.launch(on: self, owner: owner) { completion($0, $0.result($1)) }
    }

    /// Runs the members of a batch again on this agent that failed or were not started in the last run.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Returns: The results of all members, as ``BatchRequest/retryFailed(onStart:)``.
    /// - Throws: An error of ``BatchRequest/send(onStart:)``.
    @discardableResult
    nonisolated(nonsending) public func retryFailed(
        _ batch: BatchRequest, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Result<Response, RequestError>] {
        try await batch.retryFailed(on: self, onStart: onStart)
    }

    /// Starts the members of a batch again on this agent that failed or were not started in the last run; the closure
    /// is called once on the main actor, with a result for each request or the error.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end.
    @MainActor @discardableResult @_disfavoredOverload
    public func retryFailed(
        _ batch: BatchRequest, owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest, Result<[Result<Response, RequestError>], RequestError>
            ) -> Void
    ) -> CompositeTask {
        batch.launchRetry(on: self, owner: owner) { completion($0, $0.result($1)) }
    }

    /// Starts a batch on this agent, which performs all members, from any context, and gives the batch up; the closure
    /// is called once, on the queue.
    ///
    /// Hooks, delegates and accessories are called on no actor.
    @discardableResult @_disfavoredOverload
    nonisolated public func start(
        _ batch: sending BatchRequest, on queue: DispatchQueue,
        completion:
            @escaping @Sendable (Result<[Result<Response, RequestError>], RequestError>) -> Void
    ) -> CompositeTask {
        BatchRequest.dispatch(batch, on: self, queue, completion: completion)
    }

    /// Runs a chain on this agent, on the caller's actor; the agent performs all members, also those of nested batches
    /// and chains.
    ///
    /// - Parameters:
    ///   - chain: The chain.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``ChainRequest/send(onStart:)``.
    @discardableResult
    nonisolated(nonsending) public func send(
        _ chain: ChainRequest, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Response] {
        try await chain.perform(on: self, onStart: onStart)
    }

    /// Starts a chain on this agent, which performs all members; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - chain: The chain.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called after a success.
    ///   - failure: Called with an error of ``ChainRequest/send(onStart:)``.
    @MainActor @discardableResult
    public func start(
        _ chain: ChainRequest, owner: RequestOwner? = nil,
        success: @escaping @MainActor (ChainRequest) -> Void = { _ in },
        failure: @escaping @MainActor (ChainRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        chain.launch(on: self, owner: owner, success: success, failure: failure)
    }

    /// Starts a chain on this agent, which performs all members; the closure is called once on the main actor, with the
    /// responses of its requests or the error.
    ///
    /// - Parameters:
    ///   - chain: The chain.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with a result as that of ``ChainRequest/send(onStart:)``.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        _ chain: ChainRequest, owner: RequestOwner? = nil,
        completion: @escaping @MainActor (ChainRequest, Result<[Response], RequestError>) -> Void
    ) -> CompositeTask {
        chain.launch(on: self, owner: owner) { completion($0, $0.result($1)) }
    }

    /// Starts a chain on this agent, which performs all members, from any context, and gives the chain up; the closure
    /// is called once, on the queue.
    ///
    /// Hooks, delegates and accessories are called on no actor.
    @discardableResult @_disfavoredOverload
    nonisolated public func start(
        _ chain: sending ChainRequest, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<[Response], RequestError>) -> Void
    ) -> CompositeTask {
        ChainRequest.dispatch(chain, on: self, queue, completion: completion)
    }
}
