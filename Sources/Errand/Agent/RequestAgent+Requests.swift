public import Dispatch
public import ErrandCore

// An agent at the call. It takes precedence over the endpoint's agent for that run, and is not kept on the request.
extension RequestAgent {
    /// Runs a request on this agent and returns its response, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels the request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - onStart: Called with the task before anything is sent. Default: does nothing.
    /// - Throws: ``RequestError``.
    @discardableResult
    nonisolated(nonsending) public func send(
        _ request: BaseRequest, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> Response {
        let run = request.enlist(on: self)
        onStart(run.task)
        await perform(run.task)
        return try request.response(ofEnded: run)
    }

    /// Runs a request on this agent and returns its output, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels the request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - onStart: Called with the task before anything is sent. Default: does nothing.
    /// - Throws: ``RequestError``.
    @discardableResult
    nonisolated(nonsending) public func value<Endpoint: TypedRequest>(
        _ request: Endpoint, onStart: (RequestTask) -> Void = { _ in }
    ) async throws(RequestError) -> Endpoint.Output {
        let run = request.enlist(on: self)
        onStart(run.task)
        await perform(run.task)
        return try request.output(ofEnded: run, as: Endpoint.Output.self)
    }

    /// Starts a request on this agent; one of the closures is called, once, on the main actor.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - success: Called after a success.
    ///   - failure: Called after a failure or a cancellation.
    @MainActor @discardableResult
    public func start<Endpoint: StartableRequest>(
        _ request: Endpoint, owner: RequestOwner? = nil,
        success: @escaping @MainActor (Endpoint) -> Void = { _ in },
        failure: @escaping @MainActor (Endpoint, RequestError) -> Void = { _, _ in }
    ) -> RequestTask {
        request.launch(on: self, owner: owner, success: success, failure: failure)
    }

    /// Starts a request on this agent; the closure is called, once, on the main actor, with the response or the error.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - completion: Called after every end.
    @MainActor @discardableResult @_disfavoredOverload
    public func start<Endpoint: StartableRequest>(
        _ request: Endpoint, owner: RequestOwner? = nil,
        completion: @escaping @MainActor (Endpoint, Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        request.launch(on: self, owner: owner) { completion($0, $1.result) }
    }

    /// Starts a request on this agent; the closure is called, once, on the main actor, with the output or the error.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - completion: Called after every end.
    @MainActor @discardableResult
    public func start<Endpoint: TypedRequest>(
        _ request: Endpoint, owner: RequestOwner? = nil,
        completion: @escaping @MainActor (Endpoint, Result<Endpoint.Output, RequestError>) -> Void
    ) -> RequestTask {
        request.launch(on: self, owner: owner) {
            completion($0, $1.output(as: Endpoint.Output.self))
        }
    }

    /// Starts a request on this agent from any context; the closure is called once, on the queue.
    ///
    /// Hooks, accessories and delegate of the request are not called, and nothing is set on it.
    @discardableResult @_disfavoredOverload
    nonisolated public func start(
        _ request: BaseRequest, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        request.dispatch(on: self, queue) { completion($0.result) }
    }

    /// Starts a request on this agent from any context; the closure is called once, on the queue, with the output or
    /// the error.
    ///
    /// Hooks, accessories and delegate of the request are not called, and nothing is set on it.
    @discardableResult
    nonisolated public func start<Endpoint: TypedRequest>(
        _ request: Endpoint, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Endpoint.Output, RequestError>) -> Void
    ) -> RequestTask {
        request.dispatch(on: self, queue) { completion($0.output(as: Endpoint.Output.self)) }
    }
}
