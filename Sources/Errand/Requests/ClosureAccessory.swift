/// An accessory made of a closure.
nonisolated final class ClosureAccessory: RequestAccessory {
    private let body: (RequestUnit.LifecycleEvent, RequestUnit) -> Void

    init(_ body: @escaping (RequestUnit.LifecycleEvent, RequestUnit) -> Void) { self.body = body }

    func notify(_ event: RequestUnit.LifecycleEvent, of unit: RequestUnit) { body(event, unit) }
}

/// An accessory of an agent, made of a closure that is called on the actors of many requests.
nonisolated final class SharedClosureAccessory: RequestAccessory, Sendable {
    private let body: @Sendable (RequestUnit.LifecycleEvent, RequestUnit) -> Void

    init(_ body: @escaping @Sendable (RequestUnit.LifecycleEvent, RequestUnit) -> Void) {
        self.body = body
    }

    func notify(_ event: RequestUnit.LifecycleEvent, of unit: RequestUnit) { body(event, unit) }
}

nonisolated extension RequestUnit {
    /// A point in the life of a run at which accessories are notified.
    ///
    /// New cases may be added: a `switch` needs a `default`.
    public enum LifecycleEvent: Sendable, Hashable, CaseIterable {
        /// It is about to start.
        case willStart
        /// It is about to be suspended.
        case willSuspend
        /// It has resumed.
        case didResume
        /// It is about to be cancelled.
        case willCancel
        /// It has ended; hooks, delegate and closures are called next.
        case willStop
        /// Hooks, delegate and closures have been called.
        case didStop
    }
}

nonisolated extension RequestUnit {
    /// Adds a closure as an accessory, which is held, with everything it captures, with the object.
    ///
    ///     request.observe { event, _ in if event == .willStart { spinner.start() } }
    ///
    /// - Parameter body: Called on the actor of the run, whenever a method of ``RequestAccessory`` would be.
    public func observe(_ body: @escaping (LifecycleEvent, RequestUnit) -> Void) {
        accessories.append(ClosureAccessory(body))
    }

    /// Adds an accessory that is held weakly.
    public func observe(weakly accessory: any RequestAccessory) {
        observe { [weak accessory] event, unit in accessory?.notify(event, of: unit) }
    }
}
