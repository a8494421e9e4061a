/// A companion made of a closure.
///
///     request.accessories.append(ClosureAccessory { moment, request in
///         if moment == .willStart { spinner.start() }
///         if moment == .didStop { spinner.stop() }
///     })
///
/// One that is given to a batch or a chain takes its closure by `composite:`, as the whole is no request:
///
///     batch.accessories.append(ClosureAccessory(composite: { moment, batch in … }))
///
/// Called on the actor the request belongs to, in the places of ``RequestAccessory``'s methods. Held until removed,
/// with all that the closure captures.
nonisolated public final class ClosureAccessory: MomentAccessory {
    /// When an accessory is called, of a request or of a batch or chain as a whole; a growing list, so a `switch` over it needs a default.
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
    private let compositeBody: (Moment, any CompositeRequest) -> Void

    /// Makes a companion of requests, and of batches and chains as wholes, where a second closure is given.
    public init(
        _ body: @escaping (Moment, BaseRequest) -> Void,
        composite: @escaping (Moment, any CompositeRequest) -> Void = { _, _ in }
    ) {
        self.body = body
        compositeBody = composite
    }

    /// Makes a companion of batches and chains.
    public convenience init(composite: @escaping (Moment, any CompositeRequest) -> Void) {
        self.init({ _, _ in }, composite: composite)
    }

    /// Calls the closure.
    public func request(_ request: BaseRequest, reached moment: Moment) { body(moment, request) }

    /// Calls the closure for batches and chains.
    public func composite(_ composite: any CompositeRequest, reached moment: Moment) {
        compositeBody(moment, composite)
    }
}
