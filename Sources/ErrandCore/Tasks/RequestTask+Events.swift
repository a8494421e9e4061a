import ErrandSystem
import ErrandTransport
import Synchronization

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
        hasEventReaders.store(true, ordering: .releasing)
        let events = AsyncStream.subscribed(keeping: .bufferingNewest(max(1, capacity))) { stream in
            eventReaders.withLock { $0.add(stream) }
        } leave: { [weak self] id in
            _ = self?.eventReaders.withLock { $0.remove(id) }
        }
        // An unobserved task emits no end, so it is emitted here. The event queue delivers only the first end.
        whenEnded { [self] in emitEnd($0) }
        return events
    }

    /// Emits an event; costs nothing without listeners.
    ///
    /// Events are delivered in order, one at a time, with monotonic times, whichever threads emit them.
    package func emit(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard isObserved else { return }
        eventOwner.enqueue(kind())
    }

    /// Emits an event that listeners receive on another thread, because the caller's thread serves other transfers too.
    package func emitAsynchronously(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard isObserved else { return }
        eventOwner.enqueueForLater(kind())
    }

    /// Emits the start of the request.
    @inline(never)  // decision 10
    func emitStart() { emit(.started) }

    /// Emits the end of the request.
    @inline(never)  // decision 10
    func emitEnd(_ outcome: TaskOutcome) {
        guard isObserved else { return }
        let drain = takeDrain()
        eventOwner.enqueue(.ended(outcome.error), try? outcome.result.get())
        // All events have a thread that delivers them now; the queue would keep this task until the drain.
        if let drain { ListenerQueue.cancel(drain) }
    }

    /// Emits the progress from now on.
    func emitProgress() {
        hub.listen(every: .milliseconds(100)) { [weak self] progress in
            self?.emit(.progress(progress))
        }
    }

    /// Whether events have a listener or a reader.
    var isObserved: Bool {
        // Called about twelve times per request, so the common case reads only its own fields.
        guard let sharedTransfer else {
            return hasListeners || hasEventReaders.load(ordering: .acquiring)
        }
        let owner = sharedTransfer.eventOwner
        return owner.hasListeners || owner.hasEventReaders.load(ordering: .acquiring)
    }

    static func source(
        _ id: UUID, _ description: borrowing RequestDescription
    ) -> Shared<RequestEvent.Origin> {
        Shared(
            RequestEvent.Origin(
                taskID: id, endpoint: description.endpoint,
                endpointType: description.endpointType, tag: description.tag,
                metadata: description.metadata))
    }

    /// Whether every event was delivered, except one that a listener of this thread is handling.
    var hasDeliveredEvents: Bool { !eventQueue.withLock { $0.isBusyElsewhere } }

    /// Suspends until every event was delivered.
    package func untilDelivered() async {
        await withCheckedContinuation { continuation in
            let waits = eventQueue.withLock { $0.wait(continuation) }
            if !waits { continuation.resume() }
        }
    }

    // MARK: - Delivery

    private func enqueue(_ kind: consuming RequestEvent.Kind, _ response: Response? = nil) {
        var event = event(kind, response)
        var events: [RequestEvent] = []
        let entry = eventQueue.withLock { queue in
            let entry = queue.enter(event.kind)
            if case .refused = entry { return entry }
            // The time is read under the lock, so that times have the order of the queue.
            event.uptime = services.uptime
            if case .wait = entry { events = queue.append(event) }
            return entry
        }
        switch entry {
        case .refused: return
        case .deliver:
            notify(event)
            if !eventQueue.withLock({ $0.finish() }) { deliver(nextEvents()) }
        case .wait: deliver(events)
        }
    }

    private func enqueueForLater(_ kind: consuming RequestEvent.Kind) {
        var event = event(kind)
        let mustDrain = eventQueue.withLock { queue in
            event.uptime = services.uptime
            return queue.leave(event)
        }
        if mustDrain { keep(drain: ListenerQueue.drainSoon(self)) }
    }

    private func event(
        _ kind: consuming RequestEvent.Kind, _ response: Response? = nil
    ) -> RequestEvent {
        RequestEvent(
            eventSource ?? Self.source(id, description), uptime: .zero, kind: kind,
            response: response)
    }

    private func deliver(_ first: [RequestEvent]) {
        var events = first
        while !events.isEmpty {
            // Borrowed from the buffer: a copy of an event counts several references.
            events.withUnsafeBufferPointer { for index in $0.indices { notify($0[index]) } }
            events = nextEvents()
        }
    }

    /// Ends a delivery, unless further events wait.
    private func nextEvents() -> [RequestEvent] {
        let (events, waiters) = eventQueue.withLock { ($0.next(), $0.takeWaiters()) }
        for waiter in waiters { waiter.resume() }
        return events
    }

    private func notify(_ event: RequestEvent) {
        sharedConfiguration.listeners.receive(event)
        guard event.kind.isEnd || hasEventReaders.load(ordering: .acquiring) else { return }
        guard !event.kind.isChunk, !event.kind.isProgress else { return }
        yieldToReaders(event.kind.isMessage ? event.withoutPayload : event)
    }

    /// Yields an event to the readers; the end is also recorded for later readers.
    @inline(never)
    private func yieldToReaders(_ event: RequestEvent) {
        let isEnd = event.kind.isEnd
        for reader in eventReaders.withLock({ $0.readers(of: event, isEnd: isEnd) }) {
            reader.yield(event)
            if isEnd { reader.finish() }
        }
    }
}

extension RequestTask: ListenerQueue.Drainable {
    package var needsDrain: Bool { eventQueue.withLock { $0.needsDrain() } }

    package func drain() { deliver(eventQueue.withLock { $0.begin() }) }
}
