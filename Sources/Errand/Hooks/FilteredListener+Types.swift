public import ErrandCore

extension FilteredListener {
    /// Creates a listener for the events of endpoints of these types.
    ///
    ///     configuration.eventListeners.append(
    ///         FilteredListener(endpoints: [User.Get.self, Flight.Get.self]) { event in
    ///             print(event.kind)
    ///         })
    ///
    /// Types with the same name are distinguished. An outbox stores only the name of an endpoint,
    /// so the events of its requests do not match.
    ///
    /// - Parameters:
    ///   - endpoints: The classes; subclasses do not match.
    ///   - tags: The tags; `nil`, the default, matches all. Type and tag must both match.
    ///   - handler: Called in order for one task, from any thread except a transport's own.
    nonisolated public init(
        endpoints: [BaseRequest.Type], tags: Set<Int>? = nil,
        _ handler: @escaping @Sendable (RequestEvent) -> Void
    ) {
        self.init(types: Set(endpoints.map { ObjectIdentifier($0) }), tags: tags, handler)
    }

    /// Creates a listener that forwards the events of endpoints of these types to another listener.
    nonisolated public init(
        endpoints: [BaseRequest.Type], tags: Set<Int>? = nil, to listener: any RequestEventListener
    ) {
        self.init(endpoints: endpoints, tags: tags) { listener.handle($0) }
    }
}
