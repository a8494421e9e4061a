import ErrandHTTP

/// The readers of one task's event sequence, as pure state.
package struct TaskEventReaders: Sendable {
    private var streams = Subscribers<AsyncStream<RequestEvent>.Continuation>()
    /// The end, for readers that are added after it.
    private var end: Shared<RequestEvent>?

    package init() {}

    /// Adds a reader for later events and returns its id; after the end, yields only the end and returns `nil`.
    package mutating func add(_ stream: AsyncStream<RequestEvent>.Continuation) -> Int? {
        if let end { stream.yield(end.value) }
        return streams.add(stream)
    }

    package mutating func remove(_ id: Int) -> AsyncStream<RequestEvent>.Continuation? {
        streams.remove(id)
    }

    /// The readers that get an event.
    ///
    /// The end closes the list.
    package mutating func readers(
        of event: RequestEvent, isEnd: Bool
    ) -> [AsyncStream<RequestEvent>.Continuation] {
        guard isEnd else { return Array(streams.entries.values) }
        end = Shared(event)
        return streams.close()
    }
}
