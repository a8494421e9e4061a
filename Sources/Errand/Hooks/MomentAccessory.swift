/// An accessory with one method for every moment of a request, and one for those of a batch or a chain.
///
/// What the framework's own accessories are made of; for whoever treats all moments alike, such as a log.
///
///     final class Log: MomentAccessory {
///         func request(_ request: BaseRequest, reached moment: ClosureAccessory.Moment) {
///             print(moment, request)
///         }
///     }
nonisolated public protocol MomentAccessory: RequestAccessory {
    /// A request reached a moment of its life; called on the actor the request belongs to.
    func request(_ request: BaseRequest, reached moment: ClosureAccessory.Moment)

    /// A batch or a chain reached a moment of its life; called on the actor it runs on.
    ///
    /// The default does nothing.
    func composite(
        _ composite: any CompositeRequest, reached moment: ClosureAccessory.Moment)
}

extension MomentAccessory {
    /// Does nothing.
    public func composite(
        _ composite: any CompositeRequest, reached moment: ClosureAccessory.Moment
    ) {}

    /// Reaches `.willStart`.
    public func requestWillStart(_ request: BaseRequest) {
        self.request(request, reached: .willStart)
    }
    /// Reaches `.willSuspend`.
    public func requestWillSuspend(_ request: BaseRequest) {
        self.request(request, reached: .willSuspend)
    }
    /// Reaches `.didResume`.
    public func requestDidResume(_ request: BaseRequest) {
        self.request(request, reached: .didResume)
    }
    /// Reaches `.willCancel`.
    public func requestWillCancel(_ request: BaseRequest) {
        self.request(request, reached: .willCancel)
    }
    /// Reaches `.willStop`.
    public func requestWillStop(_ request: BaseRequest) {
        self.request(request, reached: .willStop)
    }
    /// Reaches `.didStop`.
    public func requestDidStop(_ request: BaseRequest) {
        self.request(request, reached: .didStop)
    }

    /// Reaches `.willStart`.
    public func compositeWillStart(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willStart)
    }
    /// Reaches `.willSuspend`.
    public func compositeWillSuspend(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willSuspend)
    }
    /// Reaches `.didResume`.
    public func compositeDidResume(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .didResume)
    }
    /// Reaches `.willCancel`.
    public func compositeWillCancel(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willCancel)
    }
    /// Reaches `.willStop`.
    public func compositeWillStop(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .willStop)
    }
    /// Reaches `.didStop`.
    public func compositeDidStop(_ composite: any CompositeRequest) {
        self.composite(composite, reached: .didStop)
    }
}

extension RequestAccessory {
    /// Calls the method of a moment: the one table from moments to calls.
    nonisolated func tell(_ moment: ClosureAccessory.Moment, of request: BaseRequest) {
        switch moment {
        case .willStart: requestWillStart(request)
        case .willSuspend: requestWillSuspend(request)
        case .didResume: requestDidResume(request)
        case .willCancel: requestWillCancel(request)
        case .willStop: requestWillStop(request)
        case .didStop: requestDidStop(request)
        }
    }

    /// Calls the method of a moment of a batch or a chain.
    nonisolated func tell(
        _ moment: ClosureAccessory.Moment, of composite: any CompositeRequest
    ) {
        switch moment {
        case .willStart: compositeWillStart(composite)
        case .willSuspend: compositeWillSuspend(composite)
        case .didResume: compositeDidResume(composite)
        case .willCancel: compositeWillCancel(composite)
        case .willStop: compositeWillStop(composite)
        case .didStop: compositeDidStop(composite)
        }
    }
}
