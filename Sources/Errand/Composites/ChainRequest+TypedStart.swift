public import Dispatch
public import ErrandCore

nonisolated extension ChainRequest.Typed {
    /// Starts the chain; one of the closures is called once on the main actor.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - value: Called with the output.
    ///   - failure: Called with an error that ``value(onStart:)`` throws.
    @MainActor @discardableResult @_disfavoredOverload
    public func start(
        owner: RequestOwner? = nil, value: @escaping @MainActor (Output) -> Void,
        failure: @escaping @MainActor (RequestError) -> Void = { _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { $0.outcome($1).call(value, failure) }
    }

    /// Starts the chain; the closure is called once on the main actor, with the output or the error.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - completion: Called after every end, with the result of ``value(onStart:)``.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        completion:
            @escaping @MainActor (ChainRequest.Typed<Output>, Result<Output, RequestError>) -> Void
    ) -> CompositeTask {
        launch(on: nil, owner: owner) { completion($0, $0.outcome($1)) }
    }

    /// Starts a chain from any context and gives it up; the closure is called once, on the queue, with the output or
    /// the error.
    ///
    /// Otherwise it is like `start(_:on:completion:)` of ``ChainRequest``.
    @discardableResult
    nonisolated public static func start(
        _ chain: sending ChainRequest.Typed<Output>, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Output, RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(chain, on: nil, queue, read: { $0.outcome(nil) }, completion: completion)
    }
}
