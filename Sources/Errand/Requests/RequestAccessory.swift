/// An observer of the lifecycle of requests, for example an activity indicator, a counter or a log.
///
/// The methods are called on the actor of the request and have empty defaults. Requests, batches,
/// chains and ``Configuration/accessories`` hold their accessories strongly; ``WeakAccessory``
/// holds another accessory weakly. ``ClosureAccessory`` is made of a closure, and
/// ``LifecycleAccessory`` has one method for all events. The accessories of a batch, a chain or a graph are
/// notified of it by the methods that begin with `composite`; its members have their own
/// accessories.
nonisolated public protocol RequestAccessory: AnyObject {
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
    func compositeWillStart(_ composite: any CompositeRequest)
    /// The composite is about to be suspended.
    func compositeWillSuspend(_ composite: any CompositeRequest)
    /// The composite has resumed.
    func compositeDidResume(_ composite: any CompositeRequest)
    /// The composite is about to be cancelled; `compositeWillStop` and `compositeDidStop`
    /// follow.
    ///
    /// If it is awaited with `send()`, this is called directly before the end.
    func compositeWillCancel(_ composite: any CompositeRequest)
    /// The composite has ended; its delegate and closures are called next.
    func compositeWillStop(_ composite: any CompositeRequest)
    /// The delegate and closures of the composite have been called.
    func compositeDidStop(_ composite: any CompositeRequest)
}

extension RequestAccessory {
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
    public func compositeWillStart(_ composite: any CompositeRequest) {}
    /// Does nothing.
    public func compositeWillSuspend(_ composite: any CompositeRequest) {}
    /// Does nothing.
    public func compositeDidResume(_ composite: any CompositeRequest) {}
    /// Does nothing.
    public func compositeWillCancel(_ composite: any CompositeRequest) {}
    /// Does nothing.
    public func compositeWillStop(_ composite: any CompositeRequest) {}
    /// Does nothing.
    public func compositeDidStop(_ composite: any CompositeRequest) {}
}

/// A batch, a chain or a graph, as accessories see it.
nonisolated public protocol CompositeRequest: AnyObject {
    /// A number for the caller's own use.
    var tag: Int { get set }
    /// The members in order, as far as they are known.
    var requests: [BaseRequest] { get }
    /// The accessories of the composite itself; the members have their own.
    var accessories: [any RequestAccessory] { get set }
    /// Called with the end of a run; the members have their own delegates.
    var delegate: (any RequestDelegate)? { get set }
}

/// Receives the end of a request or a composite, as an alternative to closures.
///
/// The methods are called on the actor of the request and have empty defaults. The delegate of a composite is
/// notified by the methods that begin with `composite`; its members have their own delegates.
nonisolated public protocol RequestDelegate: AnyObject {
    /// The request succeeded; `request.response` is set.
    func requestFinished(_ request: BaseRequest)
    /// The request failed or was cancelled; `request.error` is set.
    func requestFailed(_ request: BaseRequest)

    /// The batch or chain succeeded.
    func compositeFinished(_ composite: any CompositeRequest)
    /// The batch or chain failed, was cancelled, or was refused before anything was sent.
    ///
    /// It is not called for the refusal of a second start during a run.
    func compositeFailed(_ composite: any CompositeRequest, _ error: RequestError)
}

extension RequestDelegate {
    /// Does nothing.
    public func requestFinished(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestFailed(_ request: BaseRequest) {}
    /// Does nothing.
    public func compositeFinished(_ composite: any CompositeRequest) {}
    /// Does nothing.
    public func compositeFailed(_ composite: any CompositeRequest, _ error: RequestError) {}
}
