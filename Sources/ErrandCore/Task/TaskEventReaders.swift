/// The readers of one task's event sequence, as pure state.
struct TaskEventReaders: Sendable {
    private var streams = Subscribers<AsyncStream<RequestEvent>.Continuation>()
    /// The end, for readers that are added after it.
    private var end: Shared<RequestEvent>?

    /// Adds a reader for later events and returns its id; after the end, yields only the end and returns `nil`.
    mutating func add(_ stream: AsyncStream<RequestEvent>.Continuation) -> Int? {
        if let end { stream.yield(end.value) }
        return streams.add(stream)
    }

    mutating func remove(_ id: Int) -> AsyncStream<RequestEvent>.Continuation? {
        streams.remove(id)
    }

    /// The readers that get an event.
    ///
    /// The end closes the list.
    mutating func readers(
        of event: RequestEvent, isEnd: Bool
    ) -> [AsyncStream<RequestEvent>.Continuation] {
        guard isEnd else { return Array(streams.entries.values) }
        end = Shared(event)
        return streams.close()
    }
}

extension RequestTask {
    /// The events of this task from now on; the sequence ends with the task.
    ///
    ///     let task = GetUser(id: 7).start { … }
    ///     for await event in task.events() { print(event.kind) }
    ///
    /// Needs no listener. The last event is `ended`; a task that has ended yields only that. Earlier events reach only
    /// ``Configuration/eventListeners``. Events of a transfer that several tasks share (`.join`) belong to the task that
    /// joined first of those that remain.
    ///
    /// - Parameter capacity: The number of events that are kept for a slow reader; older ones are dropped (default 1024).
    public func events(keeping capacity: Int = 1024) -> AsyncStream<RequestEvent> {
        let context = context
        let events = context.events(keeping: capacity)
        // An unobserved task emits no end, so it is emitted here. The event queue delivers only the first end.
        whenEnded { context.emitEnd($0) }
        return events
    }
}
