public import ErrandCore

extension Configuration {
    /// The accessories of every request that the agent performs, called before the request's own.
    ///
    /// Default none. They are called on the actors of many requests, so they must be Sendable. They
    /// are notified of requests that are started with `start(success:failure:)`, `send()` or
    /// `value()`, including members of batches and chains; and of batches and chains whose first
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

extension BaseRequest {
    /// The agent's accessories, then the request's own.
    nonisolated var allAccessories: [any RequestAccessory] {
        let shared = (agent ?? .shared).sharedAccessories
        guard !shared.isEmpty else { return accessories }
        return shared.compactMap { ($0 as? SharedAccessory)?.accessory } + accessories
    }
}

extension CompositeRun {
    /// The accessories of the first request's agent, then those of the batch or chain.
    var allAccessories: [any RequestAccessory] {
        let shared = firstRequest.map { ($0.agent ?? .shared).sharedAccessories } ?? []
        guard !shared.isEmpty else { return accessories }
        return shared.compactMap { ($0 as? SharedAccessory)?.accessory } + accessories
    }

    /// Notifies the accessories of an event of the batch or chain.
    func notify(_ event: ClosureAccessory.LifecycleEvent) {
        for accessory in allAccessories { accessory.notify(event, of: self) }
    }
}
