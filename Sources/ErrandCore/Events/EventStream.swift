import Synchronization

/// The events of requests as async sequences, for those who would rather loop than be called.
///
///     let events = EventStream()
///     configuration.eventListeners.append(events)
///     for await event in events.events(where: { $0.endpoint == "GetUser" }) { print(event.kind) }
///
/// A sequence begins with the next event and goes on until its reader stops, or ``finish()``. Events of one task come in
/// order. A reader that is too slow loses the oldest events beyond the number that is kept for it.
public final class EventStream: RequestEventListener {
    private struct Reader {
        let isWanted: @Sendable (RequestEvent) -> Bool
        let continuation: AsyncStream<RequestEvent>.Continuation
    }

    private let readers = Mutex(Subscribers<Reader>())

    /// Makes a stream without readers, which costs next to nothing.
    public init() {}

    /// The events from now on.
    ///
    /// - Parameters:
    ///   - capacity: How many events are kept for a reader who is behind. Default 1024.
    ///   - isWanted: Which events; called from any thread, be quick. Default: all.
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

    /// No more events come; every sequence ends.
    public func finish() {
        for reader in readers.withLock({ $0.close() }) { reader.continuation.finish() }
    }

    /// Passes an event on to whoever reads.
    public func handle(_ event: RequestEvent) {
        let present = readers.withLock { Array($0.entries.values) }
        for reader in present where reader.isWanted(event) { reader.continuation.yield(event) }
    }
}
