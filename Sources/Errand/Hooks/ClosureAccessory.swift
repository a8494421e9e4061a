/// A companion made of a closure.
///
///     request.accessories.append(ClosureAccessory { moment, request in
///         if moment == .willStart { spinner.start() }
///         if moment == .didStop { spinner.stop() }
///     })
///
/// A batch or a chain as a whole is no request, and has a closure of its own:
///
///     batch.accessories.append(ClosureAccessory.ofComposites { moment, batch in … })
///
/// Called on the actor the request belongs to, in the places of ``RequestAccessory``'s methods. Held until removed,
/// with all that the closure captures.
nonisolated public final class ClosureAccessory: MomentAccessory {
    /// When an accessory is called, of a request or of a whole; a growing list, so a `switch` over it needs a default.
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

    /// Makes a companion.
    ///
    /// - Parameters:
    ///   - body: Hears of requests.
    ///   - composite: Hears of batches and chains as wholes; the default does nothing.
    public init(
        _ body: @escaping (Moment, BaseRequest) -> Void,
        composite: @escaping (Moment, any CompositeRequest) -> Void = { _, _ in }
    ) {
        self.body = body
        compositeBody = composite
    }

    /// Makes a companion of batches and chains.
    public static func ofComposites(
        _ body: @escaping (Moment, any CompositeRequest) -> Void
    ) -> ClosureAccessory {
        ClosureAccessory({ _, _ in }, composite: body)
    }

    /// Calls the closure.
    public func request(_ request: BaseRequest, reached moment: Moment) { body(moment, request) }

    /// Calls the closure for batches and chains.
    public func composite(_ composite: any CompositeRequest, reached moment: Moment) {
        compositeBody(moment, composite)
    }
}
