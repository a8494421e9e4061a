/// Who reads the events of one task as a sequence: pure state.
struct TaskEventReaders: Sendable {
    private var streams = Subscribers<AsyncStream<RequestEvent>.Continuation>()
    /// The end, for whoever comes behind it.
    private var end: RequestEvent?

    /// Takes a reader in, for what comes from now on; one who comes too late gets the end, and no number.
    mutating func add(_ stream: AsyncStream<RequestEvent>.Continuation) -> Int? {
        if let end { stream.yield(end) }
        return streams.add(stream)
    }

    mutating func remove(_ id: Int) -> AsyncStream<RequestEvent>.Continuation? {
        streams.remove(id)
    }

    /// Who is to hear of an event; nobody comes behind the end.
    mutating func readers(
        of event: RequestEvent, isEnd: Bool
    ) -> [AsyncStream<RequestEvent>.Continuation] {
        guard isEnd else { return Array(streams.entries.values) }
        end = event
        return streams.close()
    }
}

extension RequestTask {
    /// The events of this task from now on; the sequence ends with the task.
    ///
    ///     let task = GetUser(id: 7).start { … }
    ///     for await event in task.events() { print(event.kind) }
    ///
    /// No listener has to be set for it. `ended` is the last one, and the only one of a task that has ended; what came before
    /// is for ``Configuration/eventListeners``, which hear of a task from its beginning. A transfer that several tasks share
    /// (`.join`) is told to the one that began it.
    ///
    /// - Parameter capacity: How many events are kept for a reader who is behind; beyond it the oldest are lost.
    ///   Default 1024.
    public func events(keeping capacity: Int = 1024) -> AsyncStream<RequestEvent> {
        let context = context
        let events = context.events(keeping: capacity)
        // The end may have been told when nobody read; told twice it is heard once.
        whenEnded { outcome in
            switch outcome.result {
            case .success: context.emit(.ended(nil))
            case .failure(let error): context.emit(.ended(error))
            }
        }
        return events
    }
}
