/// Passes everything on to an accessory that it does not keep alive.
nonisolated public final class WeakAccessory: MomentAccessory {
    private weak var accessory: (any RequestAccessory)?

    /// Makes a companion that holds another weakly.
    public init(_ accessory: any RequestAccessory) { self.accessory = accessory }

    /// Passes the call on.
    public func request(_ request: BaseRequest, reached moment: ClosureAccessory.Moment) {
        accessory?.tell(moment, of: request)
    }
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
