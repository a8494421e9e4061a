public import Dispatch
public import ErrandCore

// Typed batches and chains on an agent at the call, which performs all members, also those of nested batches and chains.
extension RequestAgent {
    /// Runs a batch on this agent and returns the outputs of its members, on the caller's actor.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``BatchRequest/Typed/values(onStart:)``.
    nonisolated(nonsending) public func values<Values, Results>(
        _ batch: BatchRequest.Typed<Values, Results>, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Values {
        try await batch.values(on: self, onStart: onStart)
    }

    /// Runs a batch on this agent and returns the output or the error of each member, on the caller's actor.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``BatchRequest/Typed/results(onStart:)``.
    nonisolated(nonsending) public func results<Values, Results>(
        _ batch: BatchRequest.Typed<Values, Results>, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Results {
        try await batch.results(on: self, onStart: onStart)
    }

    /// Starts a batch on this agent; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - values: Called with the outputs, if all members have one.
    ///   - failure: Called with an error of ``BatchRequest/Typed/values(onStart:)``.
    @MainActor @discardableResult @_disfavoredOverload
    public func start<Values, Results>(
        _ batch: BatchRequest.Typed<Values, Results>, owner: RequestOwner? = nil,
        values: @escaping @MainActor (Values) -> Void,
        failure: @escaping @MainActor (RequestError) -> Void = { _ in }
    ) -> CompositeTask {
        batch.launch(on: self, owner: owner) { $0.outputs($1).call(values, failure) }
    }

    /// Starts a batch on this agent; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - results: Called with the output or the error of each member, if the batch succeeds by its policy.
    ///   - failure: Called with an error of ``BatchRequest/Typed/results(onStart:)``.
    @MainActor @discardableResult @_disfavoredOverload
    public func start<Values, Results>(
        _ batch: BatchRequest.Typed<Values, Results>, owner: RequestOwner? = nil,
        results: @escaping @MainActor (Results) -> Void,
        failure: @escaping @MainActor (RequestError) -> Void = { _ in }
    ) -> CompositeTask {
        batch.launch(on: self, owner: owner) { $0.allResults($1).call(results, failure) }
    }

    /// Starts a batch on this agent; the closure is called once on the main actor, with the outputs or the error.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with the result of ``BatchRequest/Typed/values(onStart:)``.
    @MainActor @discardableResult
    public func start<Values, Results>(
        _ batch: BatchRequest.Typed<Values, Results>, owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest.Typed<Values, Results>, Result<Values, RequestError>
            ) -> Void
    ) -> CompositeTask {
        batch.launch(on: self, owner: owner) { completion($0, $0.outputs($1)) }
    }

    /// Starts the members of a batch again on this agent that failed or were not started in the last run; the closure
    /// is called once on the main actor, with the outputs of all members or the error.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end.
    @MainActor @discardableResult
    public func retryFailed<Values, Results>(
        _ batch: BatchRequest.Typed<Values, Results>, owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (
                BatchRequest.Typed<Values, Results>, Result<Values, RequestError>
            ) -> Void
    ) -> CompositeTask {
        batch.launchRetry(on: self, owner: owner) { completion($0, $0.outputs($1)) }
    }

    /// Starts a batch on this agent from any context, and gives the batch up; the closure is called once, on the queue,
    /// with the outputs or the error.
    ///
    /// Hooks, delegates and accessories are called on no actor.
    @discardableResult
    nonisolated public func start<Values, Results>(
        _ batch: sending BatchRequest.Typed<Values, Results>, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Values, RequestError>) -> Void
    ) -> CompositeTask {
        BatchRequest.Typed<Values, Results>.dispatch(
            batch, on: self, queue, read: { $0.outputs(nil) }, completion: completion)
    }

    /// Starts a batch on this agent from any context, and gives the batch up; the closure is called once, on the queue,
    /// with the output or the error of each member, or with the error of the batch.
    ///
    /// Hooks, delegates and accessories are called on no actor.
    @discardableResult @_disfavoredOverload
    nonisolated public func start<Values, Results>(
        _ batch: sending BatchRequest.Typed<Values, Results>, on queue: DispatchQueue,
        results: @escaping @Sendable (Result<Results, RequestError>) -> Void
    ) -> CompositeTask {
        BatchRequest.Typed<Values, Results>.dispatch(
            batch, on: self, queue, read: { $0.allResults(nil) }, completion: results)
    }

    /// Runs a chain on this agent and returns the output of the chain, on the caller's actor.
    ///
    /// - Parameters:
    ///   - chain: The chain.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``ChainRequest/Typed/value(onStart:)``.
    nonisolated(nonsending) public func value<Output>(
        _ chain: ChainRequest.Typed<Output>, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Output {
        try await chain.value(on: self, onStart: onStart)
    }

    /// Runs a chain on this agent and returns the output of one of its steps, on the caller's actor.
    ///
    /// - Parameters:
    ///   - step: A step of the chain.
    ///   - chain: The chain.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``ChainRequest/value(of:onStart:)``.
    nonisolated(nonsending) public func value<Member: BaseRequest.TypedMember>(
        of step: ChainRequest.Step<Member>, in chain: ChainRequest,
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> Member.Output {
        _ = try await chain.perform(on: self, onStart: onStart)
        return try step.output
    }

    /// Starts a chain on this agent; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - chain: The chain.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - value: Called with the output.
    ///   - failure: Called with an error of ``ChainRequest/Typed/value(onStart:)``.
    @MainActor @discardableResult @_disfavoredOverload
    public func start<Output>(
        _ chain: ChainRequest.Typed<Output>, owner: RequestOwner? = nil,
        value: @escaping @MainActor (Output) -> Void,
        failure: @escaping @MainActor (RequestError) -> Void = { _ in }
    ) -> CompositeTask {
        chain.launch(on: self, owner: owner) { $0.outcome($1).call(value, failure) }
    }

    /// Starts a chain on this agent; the closure is called once on the main actor, with the output or the error.
    ///
    /// - Parameters:
    ///   - chain: The chain.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with the result of ``ChainRequest/Typed/value(onStart:)``.
    @MainActor @discardableResult
    public func start<Output>(
        _ chain: ChainRequest.Typed<Output>, owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (ChainRequest.Typed<Output>, Result<Output, RequestError>) -> Void
    ) -> CompositeTask {
        chain.launch(on: self, owner: owner) { completion($0, $0.outcome($1)) }
    }

    /// Starts a chain on this agent from any context, and gives the chain up; the closure is called once, on the queue,
    /// with the output or the error.
    ///
    /// Steps, hooks, delegates and accessories are called on no actor.
    @discardableResult
    nonisolated public func start<Output>(
        _ chain: sending ChainRequest.Typed<Output>, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Output, RequestError>) -> Void
    ) -> CompositeTask {
        ChainRequest.Typed<Output>.dispatch(
            chain, on: self, queue, read: { $0.outcome(nil) }, completion: completion)
    }
}
