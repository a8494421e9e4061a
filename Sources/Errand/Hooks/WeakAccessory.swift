/// Passes everything on to an accessory that it does not keep alive.
nonisolated public final class WeakAccessory: RequestAccessory {
    private weak var accessory: (any RequestAccessory)?

    /// Makes a companion that holds another weakly.
    public init(_ accessory: any RequestAccessory) { self.accessory = accessory }

    /// Passes the call on.
    public func requestWillStart(_ request: BaseRequest) { accessory?.requestWillStart(request) }
    /// Passes the call on.
    public func requestWillSuspend(_ request: BaseRequest) {
        accessory?.requestWillSuspend(request)
    }
    /// Passes the call on.
    public func requestDidResume(_ request: BaseRequest) { accessory?.requestDidResume(request) }
    /// Passes the call on.
    public func requestWillCancel(_ request: BaseRequest) { accessory?.requestWillCancel(request) }
    /// Passes the call on.
    public func requestWillStop(_ request: BaseRequest) { accessory?.requestWillStop(request) }
    /// Passes the call on.
    public func requestDidStop(_ request: BaseRequest) { accessory?.requestDidStop(request) }
    /// Passes the call on.
    public func compositeWillStart(_ composite: any CompositeRequest) {
        accessory?.compositeWillStart(composite)
    }
    /// Passes the call on.
    public func compositeWillSuspend(_ composite: any CompositeRequest) {
        accessory?.compositeWillSuspend(composite)
    }
    /// Passes the call on.
    public func compositeDidResume(_ composite: any CompositeRequest) {
        accessory?.compositeDidResume(composite)
    }
    /// Passes the call on.
    public func compositeWillCancel(_ composite: any CompositeRequest) {
        accessory?.compositeWillCancel(composite)
    }
    /// Passes the call on.
    public func compositeWillStop(_ composite: any CompositeRequest) {
        accessory?.compositeWillStop(composite)
    }
    /// Passes the call on.
    public func compositeDidStop(_ composite: any CompositeRequest) {
        accessory?.compositeDidStop(composite)
    }
}
