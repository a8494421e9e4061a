public import ErrandCore

extension FilteredListener {
    /// Makes a listener for endpoints of these types and no others, whatever else has the same name.
    ///
    ///     configuration.eventListeners.append(
    ///         FilteredListener(endpoints: [User.Get.self, Flight.Get.self]) { event in print(event.kind) })
    ///
    /// What an outbox kept over a start of the process has only its name, and is not heard of here.
    ///
    /// - Parameters:
    ///   - endpoints: The classes; their subclasses are others.
    ///   - tags: The tags; `nil`, the default, is all. Both must fit.
    ///   - handler: Called from any thread that is not a transport's own, in order for one task.
    nonisolated public init(
        endpoints: [BaseRequest.Type], tags: Set<Int>? = nil,
        _ handler: @escaping @Sendable (RequestEvent) -> Void
    ) {
        self.init(types: Set(endpoints.map { ObjectIdentifier($0) }), tags: tags, handler)
    }

    /// Makes a listener for endpoints of these types that passes on to another.
    nonisolated public init(
        endpoints: [BaseRequest.Type], tags: Set<Int>? = nil, to listener: any RequestEventListener
    ) {
        self.init(endpoints: endpoints, tags: tags) { listener.handle($0) }
    }
}
