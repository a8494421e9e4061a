/// An accessory made of a closure.
///
///     request.accessories.append(ClosureAccessory { event, request in
///         if event == .willStart { spinner.start() }
///         if event == .didStop { spinner.stop() }
///     })
///
/// Batches, chains and graphs have a separate closure:
///
///     batch.accessories.append(ClosureAccessory.ofComposites { event, batch in … })
///
/// The closure is called on the actor of the request, whenever a method of ``RequestAccessory`` is
/// called. It is held, with everything it captures, until the accessory is removed.
nonisolated public final class ClosureAccessory: LifecycleAccessory {
    /// A point in the lifecycle of a request, a batch, a chain or a graph at which accessories are notified.
    ///
    /// New cases may be added: a `switch` needs a `default`.
    public enum LifecycleEvent: Sendable, Hashable, CaseIterable {
        /// The request is about to start.
        case willStart
        /// The request is about to be suspended.
        case willSuspend
        /// The request has resumed.
        case didResume
        /// The request is about to be cancelled.
        case willCancel
        /// The request has ended; hooks, delegate and closures are called next.
        case willStop
        /// Hooks, delegate and closures have been called.
        case didStop
    }

    private let body: (LifecycleEvent, BaseRequest) -> Void
    private let compositeBody: (LifecycleEvent, any CompositeRequest) -> Void

    /// Creates an accessory.
    ///
    /// - Parameters:
    ///   - body: Called for requests.
    ///   - composite: Called for batches, chains and graphs. Default: does nothing.
    public init(
        _ body: @escaping (LifecycleEvent, BaseRequest) -> Void,
        composite: @escaping (LifecycleEvent, any CompositeRequest) -> Void = { _, _ in }
    ) {
        self.body = body
        compositeBody = composite
    }

    /// Creates an accessory for batches, chains and graphs.
    public static func ofComposites(
        _ body: @escaping (LifecycleEvent, any CompositeRequest) -> Void
    ) -> ClosureAccessory {
        ClosureAccessory({ _, _ in }, composite: body)
    }

    /// Calls the closure.
    public func request(_ request: BaseRequest, reached event: LifecycleEvent) {
        body(event, request)
    }

    /// Calls the closure for batches, chains and graphs.
    public func composite(_ composite: any CompositeRequest, reached event: LifecycleEvent) {
        compositeBody(event, composite)
    }
}
