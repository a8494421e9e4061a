/// Lets another accessory hear of some requests only: one observer of answers that are asked for all over the program.
///
///     configuration.accessories = [FilteredAccessory(profile) { $0 is GetUser || $0.tag == 7 }]
///
/// ``FilteredListener`` is its like for the events of every phase, which hold no answers. Of batches and chains it
/// passes on nothing; their members are requests like others.
nonisolated public final class FilteredAccessory: MomentAccessory, Sendable {
    private let accessory: any RequestAccessory & Sendable
    private let isWanted: @Sendable (BaseRequest) -> Bool

    /// Makes an accessory that passes on what it hears of the wanted requests.
    ///
    /// - Parameters:
    ///   - accessory: Who is to hear; it is held strongly.
    ///   - isWanted: Whether a request is one of them. Asked on the request's actor for each moment of it; be quick.
    public init(
        _ accessory: any RequestAccessory & Sendable,
        where isWanted: @escaping @Sendable (BaseRequest) -> Bool
    ) {
        self.accessory = accessory
        self.isWanted = isWanted
    }

    /// Passes it on, or not.
    public func request(_ request: BaseRequest, reached moment: ClosureAccessory.Moment) {
        if isWanted(request) { accessory.tell(moment, of: request) }
    }
}
