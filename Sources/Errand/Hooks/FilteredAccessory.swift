/// Forwards the events of some requests to another accessory, for example to one object that needs
/// the responses of an endpoint that many parts of a program use.
///
///     configuration.accessories = [FilteredAccessory(profile) { $0 is GetUser || $0.tag == 7 }]
///
/// Events of batches, chains and graphs are not forwarded; those of their members are. For the events of
/// all phases, which contain no responses, use ``FilteredListener``.
nonisolated public final class FilteredAccessory: LifecycleAccessory, Sendable {
    private let accessory: any RequestAccessory & Sendable
    private let isWanted: @Sendable (BaseRequest) -> Bool

    /// Creates an accessory that forwards the events of matching requests.
    ///
    /// - Parameters:
    ///   - accessory: The accessory to notify; it is held strongly.
    ///   - isWanted: Whether a request matches. Called on the request's actor for each event, so it
    ///     should return quickly.
    public init(
        _ accessory: any RequestAccessory & Sendable,
        where isWanted: @escaping @Sendable (BaseRequest) -> Bool
    ) {
        self.accessory = accessory
        self.isWanted = isWanted
    }

    /// Forwards the event if the request matches.
    public func request(_ request: BaseRequest, reached event: ClosureAccessory.LifecycleEvent) {
        if isWanted(request) { accessory.notify(event, of: request) }
    }
}
