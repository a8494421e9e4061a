package import ErrandTransport
package import Foundation
import Synchronization

/// The constants of one request, and the state that its steps share.
package final class TaskContext: Sendable, ListenerQueue.Drainable {
    package let id: UUID
    package let description: RequestDescription
    package let sharedConfiguration: SharedConfiguration
    /// Yielded, not copied, because it is large (decision 10).
    package var configuration: Configuration { _read { yield sharedConfiguration.value } }
    let services: TaskServices
    package let progress: ProgressHub
    /// The start on the agent's clock.
    package let startedAt: Duration
    /// Suspends the request, and has its one state; steps report stages to that through ``enter(_:)``.
    package let pause: SuspensionPoint
    /// Cancelled with the request, or with the shared transfer.
    package let scope = CancellationScope()

    /// Delays the first resumption of a request that starts on its caller's thread.
    let startBarrier = StartBarrier()

    /// Keeps what the request does; `nil` without a ``CapturingListener``.
    let capture: (any RequestCapture)?
    /// The shared transfer whose context this is; `nil` for a request's own context.
    private let sharedTransfer: SharedTransfer?
    private let hasStageObserver = Atomic(false)
    private let hasListeners: Bool
    /// What all events have in common, if there are listeners.
    private let eventSource: Shared<RequestEvent.Origin>?
    private let eventQueue = Mutex(EventQueue())
    private let position: Mutex<QueuePosition>
    private let kept = Mutex(Kept())
    /// Readers of `RequestTask.events`.
    private let readers = Mutex(TaskEventReaders())
    private let hasReaders = Atomic(false)

    package init(
        id: UUID, description: consuming RequestDescription,
        configuration: consuming SharedConfiguration, services: consuming TaskServices,
        capture: (any RequestCapture)? = nil
    ) {
        self.id = id
        description.prepare(by: configuration.value)
        if configuration.completesDescriptions || description.hasRareMembers {
            configuration.value.complete(&description)
        }
        sharedConfiguration = configuration
        hasListeners = configuration.hasListeners || capture?.observesEvents ?? false
        self.capture = capture
        self.services = services
        startedAt = services.uptime
        progress = ProgressHub(clock: services.clock)
        pause = SuspensionPoint()
        position = Mutex(QueuePosition(priority: description.sending.priority))
        sharedTransfer = nil
        eventSource = hasListeners ? Self.source(id, description) : nil
        self.description = consume description
        if sharedConfiguration.listeners.observesProgress { emitProgress() }
    }

    /// Makes the context of a shared transfer; its events belong to one of its members.
    init(sharedTransfer: SharedTransfer, of leader: TaskContext) {
        id = leader.id
        description = leader.description
        sharedConfiguration = leader.sharedConfiguration
        hasListeners = leader.hasListeners
        capture = leader.capture
        services = leader.services
        startedAt = leader.startedAt
        progress = sharedTransfer.progress
        pause = sharedTransfer.pause
        position = Mutex(QueuePosition(priority: leader.priority))
        self.sharedTransfer = sharedTransfer
        eventSource = nil
    }

    /// Emits the progress from now on.
    private func emitProgress() {
        progress.listen(every: .milliseconds(100)) { [weak self] progress in
            self?.emit(.progress(progress))
        }
    }

    private static func source(
        _ id: UUID, _ description: borrowing RequestDescription
    ) -> Shared<RequestEvent.Origin> {
        Shared(
            RequestEvent.Origin(
                taskID: id, endpoint: description.endpoint,
                endpointType: description.endpointType, tag: description.tag,
                metadata: description.metadata))
    }

    /// What steps and readers leave with the task; one structure, which costs less than a mutex for each.
    private struct Kept {
        var stageObserver: (@Sendable () -> Void)?
        /// Removes the response from the store.
        var removal: (@Sendable () -> Void)?
        /// Whether a cancelled download removes its part file; `nil` leaves that to its options.
        var discardsPart: Bool?
        /// The typed output that `ProcessStep` made.
        var output: (any Sendable)?
        /// The latest request that was given to the transport, without its body.
        var sentRequest: TransportRequest?
        /// The reason why the store had no usable response.
        var cacheMiss: CacheMissReason?
        /// The place of the waiting events, until the end.
        var drain: DrainTicket?
        /// The stored response of ``CachePolicy/cacheThenLoad``; in a box, because there is rarely one.
        var stored: Shared<StoredDelivery>?
        /// The request as it was built last; only if failures of its processing can be retried.
        var builtRequest: Shared<TransportRequest>?
    }

    /// A stored response that is delivered before the end, and its receiver.
    private struct StoredDelivery: Sendable {
        var outcome: TaskOutcome?
        var isDelivered = false
        var isRepeated = false
        var receiver: (@Sendable (TaskOutcome) -> Void)?
    }

    /// The priority of the task and the queue that it waits in.
    private struct QueuePosition {
        var priority: RequestPriority
        /// The ticket in the queue; `nil` while the task waits in none.
        var ticket: ConcurrencyLimiter.Ticket?
        var observer: (@Sendable () -> Void)?
    }

    package var transport: any Transport { services.transport }
    package var clock: any RequestClock { services.clock }
    package var uptime: Duration { services.uptime }

    /// The priority; it can change while the task waits.
    package var priority: RequestPriority {
        get { position.withLock { $0.priority } }
        set {
            position.withLock { $0.priority = newValue }
            var applied: RequestPriority?
            while true {
                let position = position.withLock { $0 }
                // Repeated until nothing changes, so that the later one of two concurrent changes takes effect last.
                guard position.priority != applied else { return }
                applied = position.priority
                position.ticket?.setPriority(position.priority)
                position.observer?()
            }
        }
    }

    /// Sets the one observer of the priority, which is called outside the lock after each change.
    func watchPriority(_ observer: (@Sendable () -> Void)?) {
        position.withLock { $0.observer = observer }
    }

    /// Records the queue before the task enters it; on entry the queue reads the priority, which may have changed.
    func waits(for ticket: ConcurrencyLimiter.Ticket?) {
        position.withLock { $0.ticket = ticket }
    }

    /// Why the task waits for a concurrency permit; `nil` if it does not wait for one.
    package var queueObstacle: ConcurrencyLimiterState.Obstacle? {
        position.withLock { $0.ticket }?.obstacle
    }

    /// Whether phases are observed.
    var isWatched: Bool { hasStageObserver.load(ordering: .sequentiallyConsistent) }

    /// Reports a stage.
    ///
    /// Without an observer this costs one atomic exchange.
    func enter(_ stage: TaskStage) {
        if let sharedTransfer { return sharedTransfer.enter(stage) }
        guard pause.taskState.change({ $0.enter(stage) }), isWatched else { return }
        let observer = kept.withLock { $0.stageObserver }
        observer?()
    }

    /// Sets the one observer of stages, which is called from any thread.
    func watchStage(_ observer: @escaping @Sendable () -> Void) {
        kept.withLock { $0.stageObserver = observer }
        hasStageObserver.store(true, ordering: .sequentiallyConsistent)
    }

    /// Whether a cancelled download removes its part file; `nil` leaves that to its options.
    ///
    /// For a shared transfer, the member that was cancelled last decides.
    var discardsPart: Bool? {
        get { (sharedTransfer?.eventContext ?? self).kept.withLock { $0.discardsPart } }
        set { kept.withLock { $0.discardsPart = newValue } }
    }

    /// The typed output that `ProcessStep` made.
    package var output: (any Sendable)? { kept.withLock { $0.output } }

    /// The latest request that was given to the transport, without its body.
    var sentRequest: TransportRequest? { kept.withLock { $0.sentRequest } }

    func keep(sentRequest: TransportRequest) {
        if let sharedTransfer { return sharedTransfer.eventContext.keep(sentRequest: sentRequest) }
        let replaced = kept.withLock { exchange(&$0.sentRequest, with: sentRequest) }
        withExtendedLifetime(replaced) {}
    }

    package func keep(output: any Sendable) { kept.withLock { $0.output = output } }

    /// Whether a decider decides about failures of processors and of the decoding.
    var retriesProcessing: Bool {
        // Not the policy, which would be copied.
        if let own = description.retryPolicy { return own.retriesProcessing }
        return configuration.retryPolicy.retriesProcessing
    }

    /// The request as it was built last, if the request ``retriesProcessing``.
    var builtRequest: TransportRequest? { kept.withLock { $0.builtRequest?.value } }

    func keep(builtRequest: TransportRequest) {
        kept.withLock { $0.builtRequest = Shared(builtRequest) }
    }

    /// The reason why the store had no usable response; `nil` if it had one, or was not asked.
    package var cacheMiss: CacheMissReason? { kept.withLock { $0.cacheMiss } }

    func keep(cacheMiss: CacheMissReason) {
        if let sharedTransfer { return sharedTransfer.eventContext.keep(cacheMiss: cacheMiss) }
        kept.withLock { $0.cacheMiss = cacheMiss }
    }

    /// The stored response of ``CachePolicy/cacheThenLoad``, after it was delivered.
    var storedOutcome: TaskOutcome? {
        kept.withLock { $0.stored?.value.isDelivered == true ? $0.stored?.value.outcome : nil }
    }

    /// Whether the response of the end equals the stored one that was delivered.
    package var repeatsStored: Bool { kept.withLock { $0.stored?.value.isRepeated ?? false } }

    /// Keeps a stored response with the output that was made last.
    func keepStored(_ response: Response) {
        let outcome = TaskOutcome(result: .success(response), output: output)
        changeStored { $0.outcome = outcome }
    }

    /// Delivers the stored response to the receiver, or to the one that is set later.
    func deliverStored() {
        let (receiver, outcome) = changeStored {
            $0.isDelivered = true
            return ($0.receiver.take(), $0.outcome)
        }
        if let receiver, let outcome { receiver(outcome) }
    }

    /// Records that the response of the end equals the stored one.
    func markStoredAsRepeated() { changeStored { $0.isRepeated = true } }

    /// Sets the receiver of the stored response, which is called once, on any thread, before the end, and immediately
    /// if the response was delivered before, or releases it (`nil`).
    package func whenStored(_ receiver: (@Sendable (TaskOutcome) -> Void)?) {
        let outcome = changeStored { stored -> TaskOutcome? in
            if stored.isDelivered { return stored.outcome }
            stored.receiver = receiver
            return nil
        }
        if let outcome { receiver?(outcome) }
    }

    @discardableResult
    private func changeStored<Result>(_ change: (inout StoredDelivery) -> Result) -> Result {
        kept.withLock { kept in
            var stored = kept.stored?.value ?? StoredDelivery()
            defer { kept.stored = Shared(stored) }
            return change(&stored)
        }
    }

    /// Stores an action that removes the response from the store again.
    package func keep(removal: @escaping @Sendable () -> Void) {
        if let sharedTransfer { return sharedTransfer.eventContext.keep(removal: removal) }
        kept.withLock { $0.removal = removal }
    }

    /// Removes the response from the store, because it turned out to be unusable.
    package func removeStoredEntry() {
        let removal = kept.withLock { $0.removal.take() }
        removal?()
    }

    /// Emits an event; costs nothing without listeners.
    ///
    /// Events are delivered in order, one at a time, with monotonic times, whichever threads emit them.
    package func emit(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard isObserved else { return }
        eventContext.enqueue(kind())
    }

    /// Emits the start of the request.
    @inline(never)  // decision 10
    func emitStart() { emit(.started) }

    /// Emits the end of the request.
    @inline(never)  // decision 10
    func emitEnd(_ outcome: TaskOutcome) {
        guard isObserved else { return }
        let drain = kept.withLock { $0.drain.take() }
        eventContext.enqueue(.ended(outcome.error), try? outcome.result.get())
        // All events have a thread that delivers them now; the queue would keep this context until the drain.
        if let drain { ListenerQueue.cancel(drain) }
    }

    /// Whether events have a listener or a reader.
    var isObserved: Bool {
        // Called about twelve times per request, so the common case reads only its own fields.
        guard let sharedTransfer else {
            return hasListeners || hasReaders.load(ordering: .acquiring)
        }
        let eventContext = sharedTransfer.eventContext
        return eventContext.hasListeners || eventContext.hasReaders.load(ordering: .acquiring)
    }

    /// The context to which events belong: for a shared transfer, one of its members.
    private var eventContext: TaskContext { sharedTransfer?.eventContext ?? self }

    /// The task's events from now on, up to its end.
    func events(keeping capacity: Int) -> AsyncStream<RequestEvent> {
        hasReaders.store(true, ordering: .releasing)
        return AsyncStream.subscribed(keeping: .bufferingNewest(max(1, capacity))) { stream in
            readers.withLock { $0.add(stream) }
        } leave: { [weak self] id in
            _ = self?.readers.withLock { $0.remove(id) }
        }
    }

    /// Yields an event to the readers; the end is also recorded for later readers.
    @inline(never)
    private func yieldToReaders(_ event: RequestEvent) {
        let isEnd = event.kind.isEnd
        for reader in readers.withLock({ $0.readers(of: event, isEnd: isEnd) }) {
            reader.yield(event)
            if isEnd { reader.finish() }
        }
    }

    /// Emits an event that listeners receive on another thread, because the caller's thread serves other transfers too.
    package func emitAsynchronously(_ kind: @autoclosure () -> RequestEvent.Kind) {
        guard isObserved else { return }
        eventContext.enqueueForLater(kind())
    }

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
        guard mustDrain else { return }
        let ticket = ListenerQueue.drainSoon(self)
        kept.withLock { $0.drain = ticket }
    }

    private func event(
        _ kind: consuming RequestEvent.Kind, _ response: Response? = nil
    ) -> RequestEvent {
        RequestEvent(
            eventSource ?? Self.source(id, description), uptime: .zero, kind: kind,
            response: response)
    }

    package var needsDrain: Bool { eventQueue.withLock { $0.needsDrain() } }

    package func drain() { deliver(eventQueue.withLock { $0.begin() }) }

    /// Whether every event was delivered, except one that a listener of this thread is handling.
    var hasDeliveredEvents: Bool { !eventQueue.withLock { $0.isBusyElsewhere } }

    /// Suspends until every event was delivered.
    package func untilDelivered() async {
        await withCheckedContinuation { continuation in
            let waits = eventQueue.withLock { $0.wait(continuation) }
            if !waits { continuation.resume() }
        }
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
        guard event.kind.isEnd || hasReaders.load(ordering: .acquiring) else { return }
        guard !event.kind.isChunk, !event.kind.isProgress else { return }
        yieldToReaders(event.kind.isMessage ? event.withoutPayload : event)
    }
}
