public import Dispatch
public import Errand
public import ErrandCore

extension RequestAgent {
    /// Runs a graph on this agent, on the caller's actor; the agent performs all members, also those of nested batches,
    /// chains and graphs.
    ///
    /// - Parameters:
    ///   - graph: The graph.
    ///   - onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: An error of ``RequestGraph/send(onStart:)``.
    @discardableResult
    nonisolated(nonsending) public func send(
        _ graph: RequestGraph, onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> RequestGraph.Results {
        try await graph.perform(on: self, onStart: onStart)
    }

    /// Starts a graph on this agent, which performs all members; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - graph: The graph.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called after a success.
    ///   - failure: Called with an error of ``RequestGraph/send(onStart:)``.
    @MainActor @discardableResult
    public func start(
        _ graph: RequestGraph, owner: RequestOwner? = nil,
        success: @escaping @MainActor (RequestGraph) -> Void = { _ in },
        failure: @escaping @MainActor (RequestGraph, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        graph.launch(on: self, owner: owner, success: success, failure: failure)
    }

    /// Starts a graph on this agent, which performs all members; the closure is called once on the main actor.
    ///
    /// - Parameters:
    ///   - graph: The graph.
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with a result as that of ``RequestGraph/send(onStart:)``.
    @MainActor @discardableResult
    public func start(
        _ graph: RequestGraph, owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (RequestGraph, Result<RequestGraph.Results, RequestError>) -> Void
    ) -> CompositeTask {
        graph.launch(on: self, owner: owner) { completion($0, $0.result($1)) }
    }

    /// Starts a graph on this agent, which performs all members, from any context, and gives the graph up; the closure
    /// is called once, on the queue.
    ///
    /// Hooks, delegates and accessories are called on no actor.
    @discardableResult
    nonisolated public func start(
        _ graph: sending RequestGraph, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<RequestGraph.Results, RequestError>) -> Void
    ) -> CompositeTask {
        RequestGraph.dispatch(graph, on: self, queue, completion: completion)
    }
}
