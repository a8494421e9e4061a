public import ErrandCore

extension Configuration {
    /// The accessories of every request that the agent performs, called before the request's own.
    ///
    /// Default none. They are called on the actors of many requests, so they must be Sendable. They
    /// are notified of requests that are started with `start(success:failure:)`, `send()` or
    /// `value()`, including members of batches, chains and graphs; and of batches, chains and graphs whose first
    /// request belongs to the agent. ``AgentAccessory`` is made of a closure or holds another
    /// accessory weakly; ``FilteredAccessory`` forwards the events of some requests.
    public var accessories: [any RequestAccessory & Sendable] {
        get { sharedAccessories.compactMap { ($0 as? SharedAccessory)?.accessory } }
        set { sharedAccessories = newValue.map { SharedAccessory(accessory: $0) } }
    }
}

/// The form in which ErrandCore stores an accessory, as `any Sendable`.
///
/// It is a concrete type, because Swift has no conditional cast to `any RequestAccessory & Sendable`.
nonisolated private struct SharedAccessory: Sendable {
    var accessory: any RequestAccessory & Sendable
}

extension RequestAgent {
    /// The agent's accessories, then those of a request, a batch, a chain or a graph.
    nonisolated fileprivate func accessories(
        before own: [any RequestAccessory]
    ) -> [any RequestAccessory] {
        let shared = sharedAccessories
        guard !shared.isEmpty else { return own }
        return shared.compactMap { ($0 as? SharedAccessory)?.accessory } + own
    }
}

extension BaseRequest {
    /// Whether ``allAccessories(of:)`` has any.
    nonisolated func hasAccessories(of agent: RequestAgent) -> Bool {
        hasOwnAccessories || agent.hasSharedAccessories
    }

    /// The accessories of the agent that performs the request, then the request's own.
    ///
    /// Most requests have none; then the arrays are not read (decision 24).
    nonisolated func allAccessories(of agent: RequestAgent) -> [any RequestAccessory] {
        hasAccessories(of: agent) ? agent.accessories(before: accessories) : []
    }
}

extension CompositeRun {
    /// Notifies the accessories of an event of the composite: those of the agent at the call or else of the first
    /// request's agent, then its own.
    func notify(_ event: ClosureAccessory.LifecycleEvent, of control: CompositeTask) {
        let agent = control.agent ?? firstRequest?.agent(atCall: nil)
        let all = agent?.accessories(before: accessories) ?? accessories
        for accessory in all { accessory.notify(event, of: self) }
    }
}
