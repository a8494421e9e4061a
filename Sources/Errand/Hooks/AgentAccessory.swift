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
nonisolated public final class AgentAccessory: RequestAccessory, Sendable {
    private let body: @Sendable (ClosureAccessory.Moment, BaseRequest) -> Void

    /// Makes an accessory of a closure, which is called on the actor of each request.
    public init(_ body: @escaping @Sendable (ClosureAccessory.Moment, BaseRequest) -> Void) {
        self.body = body
    }

    /// Makes an accessory that passes on to another for as long as that lives.
    public init(weak accessory: any RequestAccessory & Sendable) {
        let reference = WeakReference(accessory)
        body = { moment, request in
            guard let accessory = reference.accessory else { return }
            switch moment {
            case .willStart: accessory.requestWillStart(request)
            case .willSuspend: accessory.requestWillSuspend(request)
            case .didResume: accessory.requestDidResume(request)
            case .willCancel: accessory.requestWillCancel(request)
            case .willStop: accessory.requestWillStop(request)
            case .didStop: accessory.requestDidStop(request)
            }
        }
    }

    /// Calls the closure.
    public func requestWillStart(_ request: BaseRequest) { body(.willStart, request) }
    /// Calls the closure.
    public func requestWillSuspend(_ request: BaseRequest) { body(.willSuspend, request) }
    /// Calls the closure.
    public func requestDidResume(_ request: BaseRequest) { body(.didResume, request) }
    /// Calls the closure.
    public func requestWillCancel(_ request: BaseRequest) { body(.willCancel, request) }
    /// Calls the closure.
    public func requestWillStop(_ request: BaseRequest) { body(.willStop, request) }
    /// Calls the closure.
    public func requestDidStop(_ request: BaseRequest) { body(.didStop, request) }
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
