public import ErrandCore

extension RequestDescription {
    /// Whether an endpoint of this class, or of a subclass, made the description.
    ///
    ///     configuration.prepare = { request in
    ///         if request.isA(GetUser.self) { request.url = "\(request.url)?full=1" }
    ///     }
    ///
    /// False for a description that was made by hand, and for the requests of an outbox, which stores no class.
    nonisolated public func isA(_ type: BaseRequest.Type) -> Bool {
        EndpointType.isClass(endpointType, type)
    }
}

extension RequestEvent {
    /// Whether the event belongs to an endpoint of this class or of a subclass.
    ///
    /// False for the requests of an outbox, which stores no class.
    nonisolated public func isA(_ type: BaseRequest.Type) -> Bool {
        EndpointType.isClass(endpointType, type)
    }
}

extension RequestTask {
    /// Whether the task belongs to an endpoint of this class or of a subclass.
    ///
    ///     agent.cancelAll { $0.isA(Search.self) }
    ///
    /// False for the requests of an outbox, which stores no class.
    nonisolated public func isA(_ type: BaseRequest.Type) -> Bool {
        description.isA(type)
    }
}
