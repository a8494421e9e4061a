public import ErrandCore
import Synchronization

/// The events of requests as async sequences.
///
///     let events = EventStream()
///     configuration.eventListeners.append(events)
///     for await event in events.events(where: { $0.endpoint == "GetUser" }) { print(event.kind) }
///
/// A sequence begins with the next event and continues until its reader stops, or ``finish()``.
/// Events of one task arrive in order. If a reader is slow, its oldest events are dropped beyond
/// the buffer capacity.
public final class EventStream: RequestEventListener {
    private struct Reader {
        let isWanted: @Sendable (RequestEvent) -> Bool
        let continuation: AsyncStream<RequestEvent>.Continuation
    }

    private let readers = Mutex(Subscribers<Reader>())
    private let connectionReaders = Mutex(
        Subscribers<AsyncStream<ConnectionEvent>.Continuation>())

    /// Creates a stream without readers.
    public init() {}

    /// The events from now on.
    ///
    /// - Parameters:
    ///   - capacity: The number of events buffered for a slow reader; less than 1 counts as 1. Default 1024.
    ///   - isWanted: Selects events. Called on any thread; it must be fast. Default: all events.
    public func events(
        keeping capacity: Int = 1024,
        where isWanted: @escaping @Sendable (RequestEvent) -> Bool = { _ in true }
    ) -> AsyncStream<RequestEvent> {
        AsyncStream.subscribed(keeping: .bufferingNewest(max(1, capacity))) { stream in
            readers.withLock { $0.add(Reader(isWanted: isWanted, continuation: stream)) }
        } leave: { [weak self] id in
            _ = self?.readers.withLock { $0.remove(id) }
        }
    }

    /// The openings and ends of the transport's connections from now on.
    ///
    /// - Parameter capacity: The number of events buffered for a slow reader; less than 1 counts as 1. Default 1024.
    public func connectionEvents(keeping capacity: Int = 1024) -> AsyncStream<ConnectionEvent> {
        AsyncStream.subscribed(keeping: .bufferingNewest(max(1, capacity))) { stream in
            connectionReaders.withLock { $0.add(stream) }
        } leave: { [weak self] id in
            _ = self?.connectionReaders.withLock { $0.remove(id) }
        }
    }

    /// Ends every sequence; no more events are delivered.
    public func finish() {
        for reader in readers.withLock({ $0.close() }) { reader.continuation.finish() }
        for reader in connectionReaders.withLock({ $0.close() }) { reader.finish() }
    }

    /// Passes the event to the readers.
    public func handle(_ event: RequestEvent) {
        let present = readers.withLock { Array($0.entries.values) }
        for reader in present where reader.isWanted(event) { reader.continuation.yield(event) }
    }

    /// Passes the event to the readers of connections.
    public func handleConnection(_ event: ConnectionEvent) {
        for reader in connectionReaders.withLock({ Array($0.entries.values) }) {
            reader.yield(event)
        }
    }
}

/// A listener that receives only the events of some endpoints or tags.
///
///     configuration.eventListeners.append(
///         FilteredListener(endpoints: ["GetUser", "SaveUser"]) { event in print(event.kind) })
public struct FilteredListener: RequestEventListener {
    private let endpoints: Set<String>?
    private let types: Set<ObjectIdentifier>?
    private let tags: Set<Int>?
    private let handler: @Sendable (RequestEvent) -> Void

    /// Creates a listener.
    ///
    /// - Parameters:
    ///   - endpoints: The endpoints' type names without enclosing types and modules, so nested
    ///     types of the same name all match; `nil`, the default, matches all. The initializer that
    ///     takes types is exact.
    ///   - tags: The tags; `nil`, the default, matches all. Both conditions must hold.
    ///   - handler: Called on any thread that is not a transport's own, in order for each task.
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

    /// Creates a listener that passes matching events to another listener, except those of connections, of parts of
    /// bodies and of progress.
    public init(
        endpoints: Set<String>? = nil, tags: Set<Int>? = nil, to listener: any RequestEventListener
    ) {
        self.init(endpoints: endpoints, tags: tags) { listener.handle($0) }
    }

    /// Passes the event on if it matches.
    public func handle(_ event: RequestEvent) {
        if let endpoints, !endpoints.contains(event.endpoint) { return }
        if let types {
            guard let type = event.endpointType, types.contains(type) else { return }
        }
        if let tags, !tags.contains(event.tag) { return }
        handler(event)
    }
}
