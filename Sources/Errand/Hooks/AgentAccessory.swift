import Synchronization

/// An accessory for ``Configuration/accessories`` without a class of its own, or one that is not kept alive.
///
///     configuration.accessories = [
///         AgentAccessory(weak: monitor),
///         AgentAccessory { moment, request in if moment == .didStop { count(request) } },
///     ]
///
/// ``ClosureAccessory`` and ``WeakAccessory`` are its like for a single request, batch or chain; this one hears of requests on
/// many actors, so that what it holds is Sendable.
nonisolated public final class AgentAccessory: MomentAccessory, Sendable {
    private let body: @Sendable (ClosureAccessory.Moment, BaseRequest) -> Void

    /// Makes an accessory of a closure, which is called on the actor of each request.
    public init(_ body: @escaping @Sendable (ClosureAccessory.Moment, BaseRequest) -> Void) {
        self.body = body
    }

    /// Makes an accessory that passes on to another for as long as that lives.
    public init(weak accessory: any RequestAccessory & Sendable) {
        let reference = WeakReference(accessory)
        body = { reference.accessory?.tell($0, of: $1) }
    }

    /// Calls the closure.
    public func request(_ request: BaseRequest, reached moment: ClosureAccessory.Moment) {
        body(moment, request)
    }
}

/// Somebody who is not kept alive, asked for from any thread.
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
