public import ErrandCore
import Synchronization

extension Configuration {
    /// The accessories of every request that the agent performs, called before the request's own.
    ///
    /// Default none. They are called on the actors of many requests, so they must be Sendable. They
    /// are notified of all requests of the agent that an endpoint object starts, including members of batches, chains and graphs; and of batches, chains and graphs whose first
    /// request belongs to the agent. `observe(_:)` adds
    /// one made of a closure, `observe(weakly:)` one that is held weakly.
    public var accessories: [any RequestAccessory & Sendable] {
        get { sharedAccessories.compactMap { ($0 as? SharedAccessory)?.accessory } }
        set { sharedAccessories = newValue.map { SharedAccessory(accessory: $0) } }
    }

    /// Adds a closure as an accessory.
    ///
    ///     configuration.observe { event, unit in if event == .didStop, unit is GetUser { count() } }
    ///
    /// - Parameter body: Called on the actors of many requests, batches, chains and graphs.
    nonisolated public mutating func observe(
        _ body: @escaping @Sendable (RequestUnit.LifecycleEvent, RequestUnit) -> Void
    ) {
        accessories.append(SharedClosureAccessory(body))
    }

    /// Adds an accessory that is held weakly.
    nonisolated public mutating func observe(weakly accessory: any RequestAccessory & Sendable) {
        let reference = WeakReference(accessory)
        observe { reference.accessory?.notify($0, of: $1) }
    }
}

/// A weak reference to an accessory; may be used from any thread.
nonisolated private final class WeakReference: Sendable {
    private struct Value {
        weak var accessory: (any RequestAccessory & Sendable)?
    }

    private let value: Mutex<Value>

    init(_ accessory: any RequestAccessory & Sendable) {
        value = Mutex(Value(accessory: accessory))
    }

    var accessory: (any RequestAccessory & Sendable)? { value.withLock { $0.accessory } }
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

extension RequestUnit {
    /// Whether ``allAccessories(of:)`` has any.
    nonisolated func hasAccessories(of agent: RequestAgent?) -> Bool {
        hasOwnAccessories || agent?.hasSharedAccessories ?? false
    }

    /// The accessories of the agent that performs the run, then its own.
    ///
    /// Most requests have none; then the arrays are not read (decision 24).
    nonisolated func allAccessories(of agent: RequestAgent?) -> [any RequestAccessory] {
        guard hasAccessories(of: agent) else { return [] }
        return agent?.accessories(before: accessories) ?? accessories
    }

    /// Notifies the accessories of the agent that performs the run, then its own.
    nonisolated func notify(_ event: LifecycleEvent, by agent: RequestAgent?) {
        for accessory in allAccessories(of: agent) { accessory.notify(event, of: self) }
    }
}
