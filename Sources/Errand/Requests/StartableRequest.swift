public import Dispatch

/// The ways to start an endpoint; a protocol, so that closures receive the subclass's own type.
nonisolated public protocol StartableRequest: BaseRequest {}

extension BaseRequest: StartableRequest {}

extension StartableRequest {
    /// Starts the request; one of the closures is called, once, on the main actor, also after a cancellation.
    ///
    /// A cancellation is the error ``RequestError/Code/cancelled``. The request, its closures and their captures are
    /// retained until the end. Ends are delivered in the order in which the requests ended. Task-local values of the
    /// caller are not available in the closures.
    ///
    /// - Parameters:
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - success: Called after a success.
    ///   - failure: Called after a failure or a cancellation.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (Self) -> Void = { _ in },
        failure: @escaping @MainActor (Self, RequestError) -> Void = { _, _ in }
    ) -> RequestTask {
        launch(on: nil, owner: owner, success: success, failure: failure)
    }

    /// Starts the request; the closure is called, once, on the main actor, with the response or the error.
    ///
    /// Like `start(owner:success:failure:)`. That of a typed endpoint delivers the output, unless the closure names the
    /// type `Result<Response, RequestError>`.
    ///
    /// - Parameters:
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - completion: Called after every end.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        owner: RequestOwner? = nil,
        completion: @escaping @MainActor (Self, Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        launch(on: nil, owner: owner) { request, outcome in completion(request, outcome.result) }
    }

    /// Starts the request from any context; the closure is called once, on the queue.
    ///
    /// The request object stays with its actor: hooks, accessories and delegate are not called, and
    /// ``BaseRequest/response`` is not set. Everything is in the result. That of a typed endpoint delivers the output,
    /// unless the closure names the type `Result<Response, RequestError>`.
    @discardableResult @_disfavoredOverload
    nonisolated public func start(
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        dispatch(on: nil, queue) { completion($0.result) }
    }

    /// Runs the request and returns its response, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels the request.
    ///
    /// - Parameter onStart: Called with the task before anything is sent, for a caller that cannot read
    ///   ``BaseRequest/task`` during the run. Default: does nothing.
    /// - Throws: ``RequestError``.
    @discardableResult
    nonisolated(nonsending) public func send(
        onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> Response {
        let run = enlist()
        onStart(run.task)
        await run.agent.perform(run.task)
        return try response(ofEnded: run)
    }

    /// The agent that was set on this object.
    ///
    /// Reading `agent` selects the member of ``BaseRequest``; an assignment selects this property.
    @available(
        *, deprecated,
        message:
            "Override agent in the endpoint or its base class, or name it at the call: agent.send(request)."
    )
    @_disfavoredOverload
    nonisolated public var agent: RequestAgent? {
        get { assignedAgent }
        set { assignedAgent = newValue }
    }

    /// Attaches closures to the next run, however it is started; members of a batch, a chain or a graph keep theirs.
    ///
    /// Called on the actor of the request, then released.
    @discardableResult
    nonisolated public func attach(
        success: @escaping (Self) -> Void,
        failure: @escaping (Self, RequestError) -> Void = { _, _ in }
    ) -> Self {
        attachedSuccess = { request in
            if let request = request as? Self { success(request) }
        }
        attachedFailure = { request, error in
            if let request = request as? Self { failure(request, error) }
        }
        return self
    }

    /// Reports the progress of the next run on the main actor: at most every 100 ms, and the last value before the
    /// end.
    ///
    ///     Upload(file).onProgress { upload, progress in bar.value = progress.fractionSent ?? 0 }
    ///         .start { upload in … }
    ///
    /// For the forms of `start` that call back on the main actor; the closure is released after the run. `RequestTask.onProgress` is
    /// called for every way of starting, ``RequestTask/progress`` is a sequence.
    @discardableResult
    nonisolated public func onProgress(
        _ closure: @escaping @MainActor (Self, TransferProgress) -> Void
    ) -> Self {
        attachedProgress = { request, progress in
            if let request = request as? Self { closure(request, progress) }
        }
        return self
    }
}

extension TypedRequest {
    /// Starts the request; the closure is called, once, on the main actor, with the output or the error.
    ///
    /// Like `start(owner:success:failure:)`.
    ///
    /// - Parameters:
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - completion: Called after every end.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        completion: @escaping @MainActor (Self, Result<Output, RequestError>) -> Void
    ) -> RequestTask {
        launch(on: nil, owner: owner) { request, outcome in
            completion(request, outcome.output(as: Output.self))
        }
    }

    /// Starts the request from any context; the closure is called once, on the queue, with the output or the error.
    ///
    /// The request object stays with its actor: hooks, accessories and delegate are not called, and
    /// ``BaseRequest/response`` is not set. Everything is in the result.
    @discardableResult
    nonisolated public func start(
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Output, RequestError>) -> Void
    ) -> RequestTask {
        dispatch(on: nil, queue) { completion($0.output(as: Output.self)) }
    }
}
