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

    private struct State {
        var readers: [Int: Reader] = [:]
        var nextID = 0
        var isFinished = false
    }

    private let state = Mutex(State())

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
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestEvent.self, bufferingPolicy: .bufferingNewest(max(1, capacity)))
        let id = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.nextID += 1
            state.readers[state.nextID] = Reader(isWanted: isWanted, continuation: continuation)
            return state.nextID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: id) }
        }
        return stream
    }

    /// No more events come; every sequence ends.
    public func finish() {
        let readers = state.withLock { state in
            state.isFinished = true
            defer { state.readers = [:] }
            return state.readers.values.map(\.continuation)
        }
        for reader in readers { reader.finish() }
    }

    /// Passes an event on to whoever reads.
    public func handle(_ event: RequestEvent) {
        let readers = state.withLock { Array($0.readers.values) }
        for reader in readers where reader.isWanted(event) { reader.continuation.yield(event) }
    }
}
