/// Holds another accessory weakly and forwards all events to it.
nonisolated public final class WeakAccessory: LifecycleAccessory {
    private weak var accessory: (any RequestAccessory)?

    /// Creates an accessory that holds another one weakly.
    public init(_ accessory: any RequestAccessory) { self.accessory = accessory }

    /// Forwards the event.
    public func request(_ request: BaseRequest, reached event: ClosureAccessory.LifecycleEvent) {
        accessory?.notify(event, of: request)
    }
    /// Forwards the event.
    public func composite(
        _ composite: any CompositeRequest, reached event: ClosureAccessory.LifecycleEvent
    ) {
        accessory?.notify(event, of: composite)
    }
}
