public import ErrandCore

extension Configuration {
    /// Companions of every request that the agent carries out, called before the request's own (default none).
    ///
    /// They are called on the actors of many requests, so they are Sendable. They hear of requests that were started
    /// by `start(success:failure:)`, `send()` or `value()`, members of batches and chains included; and of batches and
    /// chains as wholes whose first request is the agent's. ``AgentAccessory`` is one
    /// of a closure, or one that is held weakly; ``FilteredAccessory`` hears of some requests only.
    public var accessories: [any RequestAccessory & Sendable] {
        get { companions.compactMap { ($0 as? SharedAccessory)?.accessory } }
        set { companions = newValue.map { SharedAccessory(accessory: $0) } }
    }
}

/// What Core keeps of an accessory: a type that can be asked for by name.
nonisolated private struct SharedAccessory: Sendable {
    var accessory: any RequestAccessory & Sendable
}

extension BaseRequest {
    /// The agent's accessories, then the request's own.
    nonisolated var everyAccessory: [any RequestAccessory] {
        let shared = (agent ?? .shared).companions
        guard !shared.isEmpty else { return accessories }
        return shared.compactMap { ($0 as? SharedAccessory)?.accessory } + accessories
    }
}

extension ComposedRun {
    /// Those of the first request's agent, then its own.
    var everyAccessory: [any RequestAccessory] {
        let shared = firstRequest.map { ($0.agent ?? .shared).companions } ?? []
        guard !shared.isEmpty else { return accessories }
        return shared.compactMap { ($0 as? SharedAccessory)?.accessory } + accessories
    }

    /// Tells the accessories of a moment of the whole.
    func tell(_ moment: ClosureAccessory.Moment) {
        for accessory in everyAccessory { accessory.tell(moment, of: self) }
    }
}
