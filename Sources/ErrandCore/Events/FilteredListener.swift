/// Passes on the events of some endpoints or tags: one observer for requests made all over the program.
///
///     configuration.eventListeners.append(
///         FilteredListener(endpoints: ["GetUser", "SaveUser"]) { event in print(event.kind) })
public struct FilteredListener: RequestEventListener {
    private let endpoints: Set<String>?
    private let types: Set<ObjectIdentifier>?
    private let tags: Set<Int>?
    private let handler: @Sendable (RequestEvent) -> Void

    /// Makes a listener.
    ///
    /// - Parameters:
    ///   - endpoints: The type names of the endpoints, without the types and modules around them, so that two nested types
    ///     of one name are both meant; `nil`, the default, is all. The initializer that takes the types themselves is exact.
    ///   - tags: The tags; `nil`, the default, is all. Both must fit.
    ///   - handler: Called from any thread that is not a transport's own, in order for one task.
    public init(
        endpoints: Set<String>? = nil, tags: Set<Int>? = nil,
        _ handler: @escaping @Sendable (RequestEvent) -> Void
    ) {
        self.endpoints = endpoints
        types = nil
        self.tags = tags
        self.handler = handler
    }

    package init(
        types: Set<ObjectIdentifier>, tags: Set<Int>?,
        _ handler: @escaping @Sendable (RequestEvent) -> Void
    ) {
        endpoints = nil
        self.types = types
        self.tags = tags
        self.handler = handler
    }

    /// Makes a listener that passes on to another.
    public init(
        endpoints: Set<String>? = nil, tags: Set<Int>? = nil, to listener: any RequestEventListener
    ) {
        self.init(endpoints: endpoints, tags: tags) { listener.handle($0) }
    }

    /// Passes the event on, or not.
    public func handle(_ event: RequestEvent) {
        if let endpoints, !endpoints.contains(event.endpoint) { return }
        if let types {
            guard let type = event.endpointType, types.contains(type) else { return }
        }
        if let tags, !tags.contains(event.tag) { return }
        handler(event)
    }
}
