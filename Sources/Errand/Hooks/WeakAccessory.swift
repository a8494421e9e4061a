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
    public func composite(
        _ composite: any CompositeRequest, reached moment: ClosureAccessory.Moment
    ) {
        accessory?.tell(moment, of: composite)
    }
}
