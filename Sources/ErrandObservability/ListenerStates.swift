import ErrandCore

/// What listeners remember about a request, by listener, in the metadata of that request.
///
/// It is released with the request: there is no table that an unfinished request could stay in.
private enum ListenerStateKey: RequestMetadata.Key {
    typealias Value = [ObjectIdentifier: any AnyObject & Sendable]
}

extension RequestMetadata {
    /// What a listener has attached.
    func state<State: AnyObject & Sendable>(of listener: AnyObject, as _: State.Type) -> State? {
        self[ListenerStateKey.self]?[ObjectIdentifier(listener)] as? State
    }

    /// Attaches what a listener remembers, in place of what it attached to another run of the same description.
    mutating func attach(_ state: some AnyObject & Sendable, of listener: AnyObject) {
        var states = self[ListenerStateKey.self] ?? [:]
        states[ObjectIdentifier(listener)] = state
        self[ListenerStateKey.self] = states
    }
}
