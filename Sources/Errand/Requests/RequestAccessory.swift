/// An observer of the lifecycle of requests, for example an activity indicator, a counter or a log.
///
/// The methods are called on the actor of the request, or on the queue of the run, and have empty defaults; ``notify(_:of:)`` is
/// called in place of all of them if it is implemented. Requests, batches, chains and ``Configuration/accessories`` hold
/// their accessories strongly; `observe(weakly:)` holds one weakly, and `observe(_:)` makes one of a closure. The
/// accessories of a batch, a chain or a graph are notified of it by the methods that begin with `composite`; its members
/// have their own accessories.
nonisolated public protocol RequestAccessory: AnyObject {
    /// Called for each event; calls the method of the event.
    ///
    /// Implement it to handle all events in one place.
    func notify(_ event: RequestUnit.LifecycleEvent, of unit: RequestUnit)

    /// The request is about to start.
    func requestWillStart(_ request: BaseRequest)
    /// The request is about to be suspended.
    func requestWillSuspend(_ request: BaseRequest)
    /// The request has resumed.
    func requestDidResume(_ request: BaseRequest)
    /// The request is about to be cancelled; `requestWillStop` and `requestDidStop` follow.
    ///
    /// For requests awaited with `send()` or `value()`, and for members of batches, chains and graphs, it
    /// is called directly before the end, because the request's actor is not available earlier.
    /// Their accessories are not notified of suspending and resuming.
    func requestWillCancel(_ request: BaseRequest)
    /// The request has ended; hooks, delegate and closures are called next.
    func requestWillStop(_ request: BaseRequest)
    /// Hooks, delegate and closures have been called.
    func requestDidStop(_ request: BaseRequest)

    /// The composite is about to start.
    func compositeWillStart(_ composite: CompositeRequest)
    /// The composite is about to be suspended.
    func compositeWillSuspend(_ composite: CompositeRequest)
    /// The composite has resumed.
    func compositeDidResume(_ composite: CompositeRequest)
    /// The composite is about to be cancelled; `compositeWillStop` and `compositeDidStop`
    /// follow.
    ///
    /// If it is awaited with `send()`, this is called directly before the end.
    func compositeWillCancel(_ composite: CompositeRequest)
    /// The composite has ended; its delegate and closures are called next.
    func compositeWillStop(_ composite: CompositeRequest)
    /// The delegate and closures of the composite have been called.
    func compositeDidStop(_ composite: CompositeRequest)
}

extension RequestAccessory {
    /// Calls the method of the event.
    public func notify(_ event: RequestUnit.LifecycleEvent, of unit: RequestUnit) {
        if let request = unit as? BaseRequest {
            switch event {
            case .willStart: requestWillStart(request)
            case .willSuspend: requestWillSuspend(request)
            case .didResume: requestDidResume(request)
            case .willCancel: requestWillCancel(request)
            case .willStop: requestWillStop(request)
            case .didStop: requestDidStop(request)
            }
        } else if let composite = unit as? CompositeRequest {
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
    /// Does nothing.
    public func requestWillStart(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestWillSuspend(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestDidResume(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestWillCancel(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestWillStop(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestDidStop(_ request: BaseRequest) {}
    /// Does nothing.
    public func compositeWillStart(_ composite: CompositeRequest) {}
    /// Does nothing.
    public func compositeWillSuspend(_ composite: CompositeRequest) {}
    /// Does nothing.
    public func compositeDidResume(_ composite: CompositeRequest) {}
    /// Does nothing.
    public func compositeWillCancel(_ composite: CompositeRequest) {}
    /// Does nothing.
    public func compositeWillStop(_ composite: CompositeRequest) {}
    /// Does nothing.
    public func compositeDidStop(_ composite: CompositeRequest) {}
}

/// Receives the end of a request or a composite, as an alternative to closures.
///
/// The methods are called on the actor of the request and have empty defaults. The delegate of a composite is
/// notified by the methods that begin with `composite`; its members have their own delegates.
nonisolated public protocol RequestDelegate: AnyObject {
    /// The request succeeded; `request.response` is set.
    func requestDidFinish(_ request: BaseRequest)
    /// The request failed or was cancelled; `request.error` is set, too.
    func requestDidFail(_ request: BaseRequest, _ error: RequestError)

    /// The batch or chain succeeded.
    func compositeDidFinish(_ composite: CompositeRequest)
    /// The batch or chain failed, was cancelled, or was refused before anything was sent.
    ///
    /// It is not called for the refusal of a second start during a run.
    func compositeDidFail(_ composite: CompositeRequest, _ error: RequestError)
}

extension RequestDelegate {
    /// Does nothing.
    public func requestDidFinish(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestDidFail(_ request: BaseRequest, _ error: RequestError) {}
    /// Does nothing.
    public func compositeDidFinish(_ composite: CompositeRequest) {}
    /// Does nothing.
    public func compositeDidFail(_ composite: CompositeRequest, _ error: RequestError) {}
}
