public import ErrandCore
public import ErrandSystem

/// What has a result: a request, a batch, a chain or a graph.
///
/// A protocol, so that closures receive the subclass's own type. Subclass ``BaseRequest`` instead of conforming to it.
nonisolated public protocol Startable: RequestUnit {
    /// What `send()` returns: the response of a request, the results of a batch, the responses of a chain.
    associatedtype SendOutput: Sendable
    /// The result of the last run; `nil` before it.
    var result: Result<SendOutput, RequestError>? { get }
}

/// What has a typed output: an endpoint, a typed batch or chain, or a graph.
nonisolated public protocol TypedUnit: Startable {
    /// The type of the output.
    associatedtype Output: Sendable
    /// The output of the last run; `nil` before it, and after a failure.
    var output: Output? { get }
    /// The output or the error of the last run; `nil` before it.
    var outputResult: Result<Output, RequestError>? { get }
}

extension TypedUnit {
    /// The output or the error of a run that has ended.
    nonisolated var endedOutput: Result<Output, RequestError> {
        outputResult ?? .failure(.missingOutput(Output.self))
    }
}

extension Startable {
    /// Starts it; the closure is called after a success, on the main actor.
    ///
    /// Hooks, delegate and accessories learn of a failure. The object, the closure and its captures are retained until the
    /// end. Ends of requests are delivered in the order in which they ended. Task-local values of the caller are not
    /// available in the closure. A request with ``CachePolicy/cacheThenLoad`` calls it for the stored response, and then
    /// for its end.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run, which performs all members of a batch, a chain or a graph. Default `nil`: that of
    ///     the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - success: Called after a success. Default: does nothing.
    @MainActor @discardableResult
    public func start(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        success: @escaping @MainActor (Self) -> Void = { _ in }
    ) -> RequestTask {
        launch(on: agent, owner: owner, hearsStored: true) { error in
            if error == nil { success(self) }
        }
    }

    /// Starts it; one of the closures is called at the end, on the main actor, also after a cancellation.
    ///
    /// A cancellation is the error ``RequestError/Code/cancelled``. The success is also called before the end, with the
    /// stored response of ``CachePolicy/cacheThenLoad``. Otherwise like `start(on:owner:success:)`.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - success: Called after a success.
    ///   - failure: Called after a failure or a cancellation.
    @MainActor @discardableResult
    public func start(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        success: @escaping @MainActor (Self) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> RequestTask {
        launch(on: agent, owner: owner, hearsStored: true) { error in
            if let error { failure(self, error) } else { success(self) }
        }
    }

    /// Starts it; the closure is called, once, on the main actor, after a success, a failure or a cancellation.
    ///
    ///     GetUser(id: 7).start(finished: { request in show(request.outputResult) })
    ///
    /// It is not called for a stored response. The error of a second start during a run, which is refused, is that of the
    /// returned task. Otherwise like `start(on:owner:success:)`.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - finished: Called after the end, with its ``result``; `nil` calls nothing.
    @MainActor @discardableResult
    public func start(
        // Optional, so that a trailing closure without a label is `success`.
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        finished: (@MainActor (Self) -> Void)?
    ) -> RequestTask {
        launch(on: agent, owner: owner, hearsStored: false) { _ in finished?(self) }
    }

    /// Starts it from any context and gives it up; one of the closures is called, once, on the queue.
    ///
    ///     GetUser.start(GetUser(id: 7), queue: .global()) { request in … } failure: { request, error in … }
    ///
    /// The closure gets the object back, as the last of all. Everything at the end happens on the queue: hooks, delegate,
    /// accessories, also those of the members of a batch, a chain or a graph. The start of a request is announced before
    /// this function returns; accessories are not notified of suspending and resuming. Errors: ``RequestError/Code/invalidCombination`` for a request
    /// whose cache policy delivers two responses.
    ///
    /// - Parameters:
    ///   - request: The request, batch, chain or graph.
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - queue: The queue of the end.
    ///   - success: Called after a success.
    ///   - failure: Called after a failure or a cancellation.
    @discardableResult
    nonisolated public static func start(
        _ request: sending Self, on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        queue: DispatchQueue, success: @escaping @Sendable (sending Self) -> Void,
        failure: @escaping @Sendable (sending Self, RequestError) -> Void
    ) -> RequestTask {
        // Safe: the caller has given the object up, and the run uses it on the queue only.
        nonisolated(unsafe) let unit = request
        return unit.dispatch(on: agent, owner: owner, queue) { error in
            if let error { failure(unit, error) } else { success(unit) }
        }
    }

    /// Runs it and returns its result, on the caller's actor: the response of a request, the results of a batch.
    ///
    /// Cancelling the calling Swift task cancels the run.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run, which performs all members of a batch, a chain or a graph. Default `nil`: that of
    ///     the endpoint.
    ///   - onStart: Called with the task before anything is sent, for a caller that cannot read ``RequestUnit/task``
    ///     during the run. Default: does nothing.
    /// - Throws: ``RequestError``. A batch fails by its ``BatchRequest/Policy``, a chain with the error of the member that
    ///   stopped it, a graph with that of the node that failed first by its policy. Further errors of these:
    ///   ``RequestError/Code/timedOut`` after the ``CompositeRequest/deadline``;
    ///   ``RequestError/Code/invalidConfiguration`` and ``RequestError/Code/invalidCombination`` for one that cannot run;
    ///   ``RequestError/Code/batchFailed``, ``RequestError/Code/chainFailed`` or ``RequestError/Code/graphFailed`` if it is
    ///   in progress already, or a closure throws another error.
    @discardableResult
    nonisolated(nonsending) public func send(
        on agent: RequestAgent? = nil, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> SendOutput {
        if let error = await perform(on: agent, onStart) { throw error }
        guard let result else { throw .cancelled }
        return try result.get()
    }
}

extension BaseRequest {
    /// Runs the request and returns its response, on the caller's actor.
    ///
    /// Like ``Startable/send(on:onStart:)``, which it is for requests: the type of the result is known when Errand is
    /// compiled, so that it is not copied by witnesses.
    @discardableResult
    nonisolated(nonsending) public func send(
        on agent: RequestAgent? = nil, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> Response {
        let run = enlist(on: agent)
        if attachedProgress != nil { relayProgress(of: run.task, to: #isolation) }
        onStart(run.task)
        await run.agent.perform(run.task)
        return try response(ofEnded: run)
    }
}

extension TypedUnit {
    /// Starts it; the closure is called after a success, on the main actor, with the output.
    ///
    /// It is not called if a batch succeeds by its policy although a member has no output. Otherwise like ``Startable/start(on:owner:success:)``.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - success: Called after a success.
    @MainActor @discardableResult
    public func start(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        success: @escaping @MainActor (Self, Output) -> Void
    ) -> RequestTask {
        launch(on: agent, owner: owner, hearsStored: true) { error in
            if error == nil, case .success(let output) = self.endedOutput { success(self, output) }
        }
    }

    /// Starts it; one of the closures is called at the end, on the main actor: with the output, or with the error.
    ///
    ///     GetUser(id: 7).start { request, user in … } failure: { request, error in … }
    ///
    /// Otherwise like ``Startable/start(on:owner:success:)``.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - success: Called after a success.
    ///   - failure: Called after a failure or a cancellation, and if a batch succeeds although a member has no output.
    @MainActor @discardableResult
    public func start(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        success: @escaping @MainActor (Self, Output) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> RequestTask {
        launch(on: agent, owner: owner, hearsStored: true) { error in
            switch error.map(Result.failure) ?? self.endedOutput {
            case .success(let output): success(self, output)
            case .failure(let error): failure(self, error)
            }
        }
    }

    /// Starts it from any context and gives it up; one of the closures is called, once, on the queue: with the output, or
    /// with the error.
    ///
    /// Otherwise like ``Startable/start(_:on:owner:queue:success:failure:)``.
    ///
    /// - Parameters:
    ///   - request: The request, batch, chain or graph.
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - owner: Cancels the run when it is deallocated; held weakly. Default `nil`: none.
    ///   - queue: The queue of the end.
    ///   - success: Called after a success.
    ///   - failure: Called after a failure or a cancellation.
    @discardableResult
    nonisolated public static func start(
        _ request: sending Self, on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        queue: DispatchQueue, success: @escaping @Sendable (sending Self, Output) -> Void,
        failure: @escaping @Sendable (sending Self, RequestError) -> Void
    ) -> RequestTask {
        // Safe: the caller has given the object up, and the run uses it on the queue only.
        nonisolated(unsafe) let unit = request
        return unit.dispatch(on: agent, owner: owner, queue) { error in
            switch error.map(Result.failure) ?? unit.endedOutput {
            case .success(let output): success(unit, output)
            case .failure(let error): failure(unit, error)
            }
        }
    }

    /// Runs it and returns its output, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels the run.
    ///
    /// - Parameters:
    ///   - agent: The agent of this run. Default `nil`: that of the endpoint.
    ///   - onStart: Called with the task before anything is sent. Default: does nothing.
    /// - Throws: An error of ``Startable/send(on:onStart:)``. If a batch succeeds by its policy although a member has no
    ///   output, the error of that member; ``RequestError/Code/chainFailed`` if the step with the output of a chain did not
    ///   succeed.
    @discardableResult
    nonisolated(nonsending) public func value(
        on agent: RequestAgent? = nil, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> Output {
        if let error = await perform(on: agent, onStart) { throw error }
        return try endedOutput.get()
    }
}

// Messages for mistakes: these are never chosen for code that compiles without them.

extension Startable {
    /// Not available: it has no output.
    @available(
        *, unavailable,
        message:
            "It has no output. Use send(), or conform the endpoint to DecodableOutput, VoidOutput or TypedRequest."
    )
    nonisolated(nonsending) public func value(
        on agent: RequestAgent? = nil
    ) async throws(RequestError) -> SendOutput { try await send(on: agent) }
}

extension TypedUnit {
    /// Not available: each end has a closure of its own.
    @available(
        *, unavailable,
        message:
            "start has a closure for each end: start { request, output in … } failure: { request, error in … }."
    )
    @MainActor @discardableResult
    public func start(
        on agent: RequestAgent? = nil, owner: RequestOwner? = nil,
        success: @escaping @MainActor (Self, Result<Output, RequestError>) -> Void
    ) -> RequestTask { start(on: agent, owner: owner) }
}
