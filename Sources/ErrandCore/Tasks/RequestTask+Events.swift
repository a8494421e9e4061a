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
