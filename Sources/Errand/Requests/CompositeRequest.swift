package import ErrandCore
import ErrandSystem

/// A batch, a chain or a graph: runs members as one unit.
nonisolated open class CompositeRequest: RequestUnit {
    package override init() { super.init() }

    /// The requests in order, including those of nested batches, chains and graphs, as far as they are known.
    open var requests: [BaseRequest] { [] }
    /// The time from the start after which the members are cancelled and the run fails with
    /// ``RequestError/Code/timedOut``.
    ///
    /// Default `nil`: no limit. Time during which the computer is suspended counts, unlike in ``Timeouts/total``. The
    /// results of the members that were cancelled are ``RequestError/Code/cancelled``. Errors:
    /// ``RequestError/Code/invalidConfiguration`` for a duration of zero or less, before anything is sent.
    public var deadline: Duration?
    /// The request with which the last run failed, not counting members that the run cancelled; `nil` if a closure failed.
    public package(set) var failedRequest: BaseRequest?

    /// The agent at the call of the run in progress, which performs all members; `nil` leaves the choice to each.
    package var agentAtCall: RequestAgent?

    /// Whether a question about its members is on its way; a composite can contain itself.
    package var isVisited = false

    /// What the kind of composite does in a run; every subclass has it.
    private var kind: (any CompositeRun)? { self as? any CompositeRun }

    @MainActor
    override func launch(
        on agent: RequestAgent?, owner: RequestOwner?, hearsStored: Bool,
        then deliver: @escaping @MainActor (RequestError?) -> Void
    ) -> RequestTask {
        kind?.launchRun(on: agent, owner: owner, then: deliver)
            ?? super.launch(
                on: agent, owner: owner, hearsStored: hearsStored, then: deliver)
    }

    nonisolated(nonsending) override func perform(
        on agent: RequestAgent?, _ onStart: (RequestTask) -> Void
    ) async -> RequestError? {
        guard let kind else { return await super.perform(on: agent, onStart) }
        return await kind.performRun(on: agent, onStart)
    }

    override func dispatch(
        on agent: RequestAgent?, owner: RequestOwner?, _ queue: DispatchQueue,
        then deliver: @escaping @Sendable (RequestError?) -> Void
    ) -> RequestTask {
        kind?.dispatchRun(on: agent, owner: owner, queue, then: deliver)
            ?? super.dispatch(on: agent, owner: owner, queue, then: deliver)
    }
}
