/// An accessory with one method for all lifecycle events of requests, and one for those of batches
/// and chains.
///
/// Use it to handle all events in the same way, for example in a log. The framework's own
/// accessories conform to it.
///
///     final class Log: LifecycleAccessory {
///         func request(
///             _ request: BaseRequest, reached event: ClosureAccessory.LifecycleEvent
///         ) {
///             print(event, request)
///         }
///     }
nonisolated public protocol LifecycleAccessory: RequestAccessory {
    /// Called when a request reaches a lifecycle event, on the actor of the request.
    func request(_ request: BaseRequest, reached event: ClosureAccessory.LifecycleEvent)

    /// Called when a batch, a chain or a graph reaches a lifecycle event, on the actor on which it runs.
    ///
    /// Default: does nothing.
    func composite(
        _ composite: any CompositeRequest, reached event: ClosureAccessory.LifecycleEvent)
}

extension LifecycleAccessory {
    /// Does nothing.
    public func composite(
        _ composite: any CompositeRequest, reached event: ClosureAccessory.LifecycleEvent
    ) {}

    /// Calls ``request(_:reached:)`` with `.willStart`.
    public func requestWillStart(_ request: BaseRequest) {
        self.request(request, reached: .willStart)
    }
    /// Calls ``request(_:reached:)`` with `.willSuspend`.
    public func requestWillSuspend(_ request: BaseRequest) {
        self.request(request, reached: .willSuspend)
    }
    /// Calls ``request(_:reached:)`` with `.didResume`.
    public func requestDidResume(_ request: BaseRequest) {
        self.request(request, reached: .didResume)
    }
    /// Calls ``request(_:reached:)`` with `.willCancel`.
    public func requestWillCancel(_ request: BaseRequest) {
        self.request(request, reached: .willCancel)
    }
    /// Calls ``request(_:reached:)`` with `.willStop`.
    public func requestWillStop(_ request: BaseRequest) {
        self.request(request, reached: .willStop)
    }
    /// Calls ``request(_:reached:)`` with `.didStop`.
    public func requestDidStop(_ request: BaseRequest) {
        self.request(request, reached: .didStop)
    }

    /// Calls ``composite(_:reached:)`` with `.willStart`.
    public func compositeWillStart(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willStart)
    }
    /// Calls ``composite(_:reached:)`` with `.willSuspend`.
    public func compositeWillSuspend(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willSuspend)
    }
    /// Calls ``composite(_:reached:)`` with `.didResume`.
    public func compositeDidResume(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .didResume)
    }
    /// Calls ``composite(_:reached:)`` with `.willCancel`.
    public func compositeWillCancel(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willCancel)
    }
    /// Calls ``composite(_:reached:)`` with `.willStop`.
    public func compositeWillStop(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willStop)
    }
    /// Calls ``composite(_:reached:)`` with `.didStop`.
    public func compositeDidStop(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .didStop)
    }
}

extension RequestAccessory {
    /// Calls the method for an event of a request.
    nonisolated func notify(_ event: ClosureAccessory.LifecycleEvent, of request: BaseRequest) {
        switch event {
        case .willStart: requestWillStart(request)
        case .willSuspend: requestWillSuspend(request)
        case .didResume: requestDidResume(request)
        case .willCancel: requestWillCancel(request)
        case .willStop: requestWillStop(request)
        case .didStop: requestDidStop(request)
        }
    }

    /// Calls the method for an event of a batch, a chain or a graph.
    nonisolated func notify(
        _ event: ClosureAccessory.LifecycleEvent, of composite: any CompositeRequest
    ) {
        switch event {
        case .willStart: compositeWillStart(composite)
        case .willSuspend: compositeWillSuspend(composite)
        case .didResume: compositeDidResume(composite)
        case .willCancel: compositeWillCancel(composite)
        case .willStop: compositeWillStop(composite)
        case .didStop: compositeDidStop(composite)
        }
    }
}
