import Synchronization

/// An accessory for ``Configuration/accessories`` that is made of a closure, or that holds another
/// accessory weakly.
///
///     configuration.accessories = [
///         AgentAccessory(weak: monitor),
///         AgentAccessory { event, request in if event == .didStop { count(request) } },
///     ]
///
/// It is notified of requests on many actors, so its closures and the accessory must be Sendable.
/// For a single request, batch, chain or graph use ``ClosureAccessory`` and ``WeakAccessory``.
nonisolated public final class AgentAccessory: LifecycleAccessory, Sendable {
    private let body: @Sendable (ClosureAccessory.LifecycleEvent, BaseRequest) -> Void
    private let compositeBody:
        @Sendable (ClosureAccessory.LifecycleEvent, any CompositeRequest) -> Void

    /// Creates an accessory from closures, which are called on the actor of each request.
    ///
    /// - Parameters:
    ///   - body: Called for requests, including members of batches, chains and graphs.
    ///   - composite: Called for batches, chains and graphs themselves. Default: does nothing.
    public init(
        _ body: @escaping @Sendable (ClosureAccessory.LifecycleEvent, BaseRequest) -> Void,
        composite:
            @escaping @Sendable (ClosureAccessory.LifecycleEvent, any CompositeRequest) -> Void = {
                _, _ in
            }
    ) {
        self.body = body
        compositeBody = composite
    }

    /// Creates an accessory that holds another one weakly and forwards all events to it.
    public init(weak accessory: any RequestAccessory & Sendable) {
        let reference = WeakReference(accessory)
        body = { reference.accessory?.notify($0, of: $1) }
        compositeBody = { reference.accessory?.notify($0, of: $1) }
    }

    /// Calls the closure.
    public func request(_ request: BaseRequest, reached event: ClosureAccessory.LifecycleEvent) {
        body(event, request)
    }

    /// Calls the closure for batches, chains and graphs.
    public func composite(
        _ composite: any CompositeRequest, reached event: ClosureAccessory.LifecycleEvent
    ) {
        compositeBody(event, composite)
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
