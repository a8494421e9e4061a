/// An accessory with one method for every moment of a request.
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
}

extension MomentAccessory {
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
}
