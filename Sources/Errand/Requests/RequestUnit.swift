public import ErrandCore
import ErrandSystem

/// A request, a batch, a chain or a graph: what can be started, and be a member of a batch, a chain or a graph.
///
/// Subclass ``BaseRequest``. A run in progress has each object as a member at most once.
nonisolated open class RequestUnit {
    package init() {}

    /// A number of your choice, for limits, listeners and cancelling by tag (default 0).
    @exclusivity(unchecked) public var tag = 0  // decision 17
    /// Observers of the lifecycle, called in order and held strongly until removed (default none).
    ///
    /// Those of a batch, a chain or a graph observe it, not its members, which have their own.
    public var accessories: [any RequestAccessory] = [] {
        didSet { hasOwnAccessories = !accessories.isEmpty }
    }
    /// Called with the end of a run, after the hooks and before the closures (default `nil`).
    @exclusivity(unchecked) public weak var delegate: (any RequestDelegate)?

    /// The task of the run in progress; `nil` before and after it.
    ///
    /// It is set before the first step of the pipeline. If a request is started again during a run, it is the task of the
    /// last start.
    @exclusivity(unchecked) public package(set) var task: RequestTask?
    /// The error of the last run; `nil` before it, and after a success.
    @exclusivity(unchecked) public package(set) var error: RequestError?

    /// Whether ``accessories`` has any; reading it needs no check for overlapping access (decision 24).
    @exclusivity(unchecked) private(set) var hasOwnAccessories = false

    // MARK: - Running, which each kind of unit overrides

    /// Starts a run on the main actor; the closure is called there with its end, and, if it hears of it, before with a
    /// stored response.
    @MainActor
    func launch(
        on agent: RequestAgent?, owner: RequestOwner?, hearsStored: Bool,
        then deliver: @escaping @MainActor (RequestError?) -> Void
    ) -> RequestTask {
        Task { @MainActor in deliver(refusal) }
        return refusedTask
    }

    /// Runs on the caller's actor; cancelling the calling Swift task cancels the run.
    nonisolated(nonsending) func perform(
        on agent: RequestAgent?, _ onStart: (RequestTask) -> Void
    ) async -> RequestError? { refusal }

    /// Runs an object that the caller gives up; its end, and the closure, are on the queue.
    func dispatch(
        on agent: RequestAgent?, owner: RequestOwner?, _ queue: DispatchQueue,
        then deliver: @escaping @Sendable (RequestError?) -> Void
    ) -> RequestTask {
        queue.async { [refusal] in deliver(refusal) }
        return refusedTask
    }

    /// The error of a unit that is neither a request nor a composite.
    final var refusal: RequestError {
        RequestError(
            .invalidCombination, stage: .build,
            "A \(type(of: self)) cannot be started. Subclass BaseRequest.")
    }

    private var refusedTask: RequestTask {
        let task = RequestTask(
            composite: "\(type(of: self))", tag: tag, total: 0, services: nil)
        task.refuse(refusal)
        return task
    }
}
