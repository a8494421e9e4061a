/// A companion of requests: shows a spinner, counts, logs.
///
/// It sees the request and changes nothing.
///
/// Called on the actor the request belongs to. Every method has an empty default. Requests, batches, chains and
/// ``Configuration/accessories`` hold their accessories strongly; ``WeakAccessory`` holds one weakly, and
/// ``ClosureAccessory`` is one without a class of its own, ``MomentAccessory`` has one method for all moments.
nonisolated public protocol RequestAccessory: AnyObject {
    /// The request is about to start.
    func requestWillStart(_ request: BaseRequest)
    /// The request is about to be suspended.
    func requestWillSuspend(_ request: BaseRequest)
    /// The request goes on.
    func requestDidResume(_ request: BaseRequest)
    /// The request is about to be cancelled. Its end is still told.
    ///
    /// For requests that somebody awaits, and for members of batches and chains, it is told just before the end:
    /// until then their actor is not theirs to use. These hear nothing of suspending and resuming.
    func requestWillCancel(_ request: BaseRequest)
    /// The request has its answer or its error; nobody was told yet.
    func requestWillStop(_ request: BaseRequest)
    /// Everybody was told.
    func requestDidStop(_ request: BaseRequest)

    /// A batch or a chain is about to start.
    func compositeWillStart(_ composite: any CompositeRequest)
    /// A batch or a chain is about to be suspended.
    func compositeWillSuspend(_ composite: any CompositeRequest)
    /// A batch or a chain goes on.
    func compositeDidResume(_ composite: any CompositeRequest)
    /// A batch or a chain is about to be cancelled. Its end is still told.
    ///
    /// For those that somebody awaits it is told just before the end.
    func compositeWillCancel(_ composite: any CompositeRequest)
    /// A batch or a chain has its outcome; nobody was told yet.
    func compositeWillStop(_ composite: any CompositeRequest)
    /// Everybody was told.
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

/// What a batch and a chain have in common for their accessories.
nonisolated public protocol CompositeRequest: AnyObject {
    /// A number of the user's choice.
    var tag: Int { get set }
    /// The members in order, as far as they are known.
    var requests: [BaseRequest] { get }
    /// Companions of the whole; the members have their own.
    var accessories: [any RequestAccessory] { get set }
}

/// Hears of a request's end, in place of closures (row CB-2).
///
/// Called on the actor the request belongs to.
nonisolated public protocol RequestDelegate: AnyObject {
    /// The request succeeded; `request.response` is set.
    func requestFinished(_ request: BaseRequest)
    /// The request failed or was cancelled; `request.error` is set.
    func requestFailed(_ request: BaseRequest)
}

extension RequestDelegate {
    /// Does nothing.
    public func requestFinished(_ request: BaseRequest) {}
    /// Does nothing.
    public func requestFailed(_ request: BaseRequest) {}
}
