/// A companion made of a closure.
///
///     request.accessories.append(ClosureAccessory { moment, request in
///         if moment == .willStart { spinner.start() }
///         if moment == .didStop { spinner.stop() }
///     })
///
/// Called on the actor the request belongs to, in the places of ``RequestAccessory``'s methods. Held until removed,
/// with all that the closure captures.
nonisolated public final class ClosureAccessory: MomentAccessory {
    /// When an accessory is called; a growing list, so a `switch` over it needs a default.
    public enum Moment: Sendable, Hashable, CaseIterable {
        /// The request is about to start.
        case willStart
        /// The request is about to be suspended.
        case willSuspend
        /// The request goes on.
        case didResume
        /// The request is about to be cancelled.
        case willCancel
        /// The request has its answer or its error; nobody was told yet.
        case willStop
        /// Everybody was told.
        case didStop
    }

    private let body: (Moment, BaseRequest) -> Void

    /// Makes a companion.
    public init(_ body: @escaping (Moment, BaseRequest) -> Void) { self.body = body }

    /// Calls the closure.
    public func request(_ request: BaseRequest, reached moment: Moment) { body(moment, request) }
}
