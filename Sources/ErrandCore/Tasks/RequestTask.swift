public import ErrandSystem
public import ErrandTransport
import Synchronization

/// One run of a request, a batch, a chain or a graph, as `start` returns it.
///
/// It can be kept, passed between actors and cancelled from any thread. Cancelling, suspending and resuming the run of a
/// batch, a chain or a graph does the same to its ``members-swift.property``; its progress is theirs together, in which a
/// total is known when every member has started and knows its own.
public final class RequestTask: Sendable, Identifiable {
    /// The identifier; the same for all attempts.
    public let id: UUID
    package let description: RequestDescription
    package let sharedConfiguration: SharedConfiguration
    let services: TaskServices
    /// The start on the agent's clock.
    package let startedAt: Duration
    /// Cancelled with the request, or with the shared transfer.
    package let scope = CancellationScope()
    /// Suspends the run, and has its one state; steps report stages to that through ``enter(_:)``.
    package let pause = SuspensionPoint()
    /// Delays the first resumption of a request that starts on its caller's thread.
    let startBarrier = StartBarrier()
    /// Keeps what the request does; `nil` without a ``CapturingListener``.
    let capture: (any RequestCapture)?
    /// The shared transfer of which this is the run; `nil` for a request's own run.
    let sharedTransfer: SharedTransfer?
    /// The state of the members of a batch, a chain or a graph; `nil` for a request.
    let memberState: MemberState?
    /// The index in the agent's table; -1 if the task is not in it.
    let place = Atomic<Int>(-1)
    // Together, without padding: an object of more than 1032 bytes costs more to allocate with glibc.
    /// Whether neither the description nor the configuration needs an ``OptionalStep``.
    let isPlain: Bool
    // Asking the stored description would copy it.
    /// Whether building the request is cheap and calls no user code.
    let isCheapToBuild: Bool
    /// Whether the task is plain, and its request depends on the URL and the configuration alone.
    let isURLAlone: Bool
    let hasListeners: Bool
    let hasEventReaders = Atomic(false)
    private let hasBegun = Atomic(false)
    private let isWatched = Atomic(false)
    private let state: Mutex<State>

    // Events, in RequestTask+Events.swift.
    /// What all events have in common, if there are listeners.
    let eventSource: Shared<RequestEvent.Origin>?
    let eventQueue = Mutex(EventQueue())
    /// Readers of ``events(keeping:)``.
    let eventReaders = Mutex(TaskEventReaders())

    /// What can change during the run, and the handlers that are called outside the lock.
    private struct State {
        // The end.
        var outcome: TaskOutcome?
        var endedAt: Duration?
        /// The first handler of the end.
        ///
        /// There is nearly always exactly one, so it needs no array.
        var handler: EndHandler?
        var furtherHandlers: [EndHandler] = []
        /// The end of the total time limit, if there is one.
        var deadline: ScheduledCall?
        var observers: [@Sendable (Change) -> Void] = []
        var phaseObservers = Subscribers<PhaseObserver>()

        // The place in the queues.
        var priority: RequestPriority
        /// The ticket in the queue; `nil` while the task waits in none.
        var ticket: ConcurrencyLimiter.Ticket?
        var priorityObserver: (@Sendable () -> Void)?

        // The progress, which the hub has as soon as there is one.
        var progress = TransferProgress()
        var hasFinalProgress = false
        var hub: ProgressHub?

        // The request that was sent, and the response of the store.
        /// The latest request that was given to the transport, without its body.
        var sentRequest: TransportRequest?
        /// The request as it was built last; only if failures of its processing can be retried.
        var builtRequest: Shared<TransportRequest>?
        /// The reason why the store had no usable response.
        var cacheMiss: CacheMissReason?
        /// Removes the response from the store.
        var removal: (@Sendable () -> Void)?
        /// The stored response of ``CachePolicy/cacheThenLoad``; in a box, because there is rarely one.
        var stored: Shared<StoredDelivery>?
        /// Whether a cancelled download removes its part file; `nil` leaves that to its options.
        var discardsPart: Bool?
        /// The place of the waiting events, until the end.
        var drain: DrainTicket?

        init(priority: RequestPriority) { self.priority = priority }
    }

    /// A handler of the end, in a structure, so that storing the closure allocates no box.
    private struct EndHandler {
        let call: @Sendable (TaskOutcome) -> Void
    }

    /// A stored response that is delivered before the end, and its receiver.
    private struct StoredDelivery: Sendable {
        var outcome: TaskOutcome?
        var isDelivered = false
        var isRepeated = false
        var receiver: (@Sendable (TaskOutcome) -> Void)?
    }

    package enum Change: Sendable { case willSuspend, didResume, willCancel, ended }

    package init(
        id: UUID, description: consuming RequestDescription,
        configuration: consuming SharedConfiguration, services: consuming TaskServices,
        capture: (any RequestCapture)? = nil, members: MemberState? = nil
    ) {
        self.id = id
        description.prepare(by: configuration)
        if configuration.completesDescriptions || description.hasRareMembers {
            configuration.value.complete(&description)
        }
        sharedConfiguration = configuration
        hasListeners = configuration.hasListeners || capture?.observesEvents ?? false
        self.capture = capture
        isPlain = description.isPlain && !configuration.usesOptionalSteps && capture == nil
        isCheapToBuild = description.isCheapToBuild
        isURLAlone = isPlain && description.isURLAlone
        memberState = members
        self.services = services
        startedAt = services.uptime
        state = Mutex(State(priority: description.sending.priority))
        sharedTransfer = nil
        eventSource = hasListeners ? Self.source(id, description) : nil
        self.description = consume description
        if sharedConfiguration.listeners.observesProgress { emitProgress() }
    }

    /// Makes the run of a shared transfer, which no table lists; its events belong to one of its members.
    init(sharedTransfer: SharedTransfer, of leader: RequestTask) {
        id = leader.id
        description = leader.description
        sharedConfiguration = leader.sharedConfiguration
        hasListeners = leader.hasListeners
        capture = leader.capture
        isPlain = leader.isPlain
        isCheapToBuild = leader.isCheapToBuild
        isURLAlone = leader.isURLAlone
        memberState = nil
        services = leader.services
        startedAt = leader.startedAt
        state = Mutex(State(priority: leader.priority))
        self.sharedTransfer = sharedTransfer
        eventSource = nil
    }

    // MARK: - Identity

    /// The endpoint's type name.
    public var endpoint: String { description.endpoint }
    /// The endpoint's tag.
    public var tag: Int { description.tag }
    /// The typed values that were attached to the request.
    public var metadata: RequestMetadata { description.metadata }

    /// Yielded, not copied, because it is large (decision 10).
    package var configuration: Configuration { _read { yield sharedConfiguration.value } }
    package var transport: any Transport { services.transport }
    package var clock: any RequestClock { services.clock }
    package var uptime: Duration { services.uptime }

    // MARK: - Cancellation and suspension

    /// Ends the task with ``RequestError/Code/cancelled``, unless it has ended.
    ///
    /// After this call the task has no other end, even if the response is arriving. Its callbacks are still called, once,
    /// with that error.
    public func cancel() { stop(.cancelled) }

    /// Ends the task like ``cancel()``, and decides whether a download keeps its part file for the next start.
    ///
    /// The decision replaces ``DownloadPlan/keepsPartWhenCancelled``. It has no effect on other requests, nor if
    /// the task has ended or another request shares the transfer and continues.
    public func cancel(discardingPart: Bool) {
        discardsPart = discardingPart
        cancel()
    }

    /// Suspends the task: before its transfer begins, or during the transfer, when the transport stops reading.
    ///
    /// Time limits continue to count. Before the transfer the task does not count against `limits`; a suspended transfer
    /// does. A response that has arrived completely is still delivered. Suspending a suspended task has no effect.
    public func suspend() {
        let observers = state.withLock { $0.observers }
        guard pause.pause() else { return }
        emit(.suspended)
        notifyPhaseObservers()
        settleMembers()
        for observer in observers { observer(.willSuspend) }
    }

    /// Resumes a suspended task; has no effect on any other.
    public func resume() {
        // The task may end on another thread as soon as it continues, and the end removes the observers.
        let observers = state.withLock { $0.observers }
        guard pause.open() else { return }
        emit(.continued)
        notifyPhaseObservers()
        settleMembers()
        for observer in observers { observer(.didResume) }
    }

    package func stop(_ reason: TaskState.StopReason) {
        let (isFirst, observers) = state.withLock {
            (pause.taskState.change { $0.stop(reason) }, $0.observers)
        }
        guard isFirst else { return }
        notifyPhaseObservers()
        if reason == .cancelled {
            emit(.cancelled)
            for observer in observers { observer(.willCancel) }
        }
        scope.cancel()
        members?.stop()
    }

    /// Whether the task has a reason to stop, which is set before its work is cancelled.
    package var isStopping: Bool { pause.taskState.value.stopReason != nil }

    @inline(never)  // decision 10
    func checkNotStopping() throws(RequestError) { if isStopping { throw .cancelled } }

    /// Whether a cancelled download removes its part file; `nil` leaves that to its options.
    ///
    /// For a shared transfer, the member that was cancelled last decides.
    var discardsPart: Bool? {
        get { eventOwner.state.withLock { $0.discardsPart } }
        set { state.withLock { $0.discardsPart = newValue } }
    }

    /// Calls an observer on every change up to and including the end; returns false if the task has ended.
    ///
    /// The call for a suspension or a resumption can follow that for the end, if another thread ends the task.
    @discardableResult
    package func observe(_ observer: @escaping @Sendable (Change) -> Void) -> Bool {
        state.withLock { state in
            guard !pause.taskState.value.hasEnded else { return false }
            state.observers.append(observer)
            return true
        }
    }

    /// Cancels the task when the owner is deallocated, unless the task has ended.
    ///
    /// The owner is not retained.
    @discardableResult
    public func bind(to owner: RequestOwner) -> RequestTask {
        owner.add(id) { [self] in cancel() }
        let isUnderWay = observe { [weak owner, id] change in
            if change == .ended { owner?.forget(id) }
        }
        if !isUnderWay { owner.forget(id) }
        return self
    }

    // MARK: - Phase

    /// The current phase.
    public var phase: Phase { pause.taskState.value.phase }

    /// Reports a stage.
    ///
    /// Without an observer this costs one atomic exchange.
    func enter(_ stage: TaskStage) {
        if let sharedTransfer { return sharedTransfer.enter(stage) }
        if pause.taskState.change({ $0.enter(stage) }) { notifyPhaseObservers() }
    }

    /// Notifies an observer of the current phase and of each later one.
    func watch(_ watch: PhaseObserver) {
        guard let id = state.withLock({ $0.phaseObservers.add(watch) }) else {
            return watch.update { .ended }
        }
        watch.whenAbandoned { [weak self] in
            _ = self?.state.withLock { $0.phaseObservers.remove(id) }
        }
        isWatched.store(true, ordering: .sequentiallyConsistent)
        watch.update { phase }
        if phase == .ended { _ = state.withLock { $0.phaseObservers.remove(id) } }
    }

    private func notifyPhaseObservers() {
        guard isWatched.load(ordering: .sequentiallyConsistent) else { return }
        for watch in state.withLock({ Array($0.phaseObservers.entries.values) }) {
            watch.update { phase }
        }
    }

    // MARK: - Priority

    /// The priority.
    ///
    /// Changing it while the task waits changes its position in the queue. For a batch, a chain or a graph, it becomes the
    /// priority of the members in progress, and of those that start later.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            var applied: RequestPriority?
            while true {
                let (priority, ticket, observer) = state.withLock {
                    ($0.priority, $0.ticket, $0.priorityObserver)
                }
                // Repeated until nothing changes, so that the later one of two concurrent changes takes effect last.
                guard priority != applied else { break }
                applied = priority
                ticket?.setPriority(priority)
                observer?()
            }
            members?.prioritize(newValue)
        }
    }

    /// Sets the one observer of the priority, which is called outside the lock after each change.
    func watchPriority(_ observer: (@Sendable () -> Void)?) {
        state.withLock { $0.priorityObserver = observer }
    }

    /// Records the queue before the task enters it; on entry the queue reads the priority, which may have changed.
    func waits(for ticket: ConcurrencyLimiter.Ticket?) {
        state.withLock { $0.ticket = ticket }
    }

    /// Why the task waits for a concurrency permit; `nil` if it does not wait for one.
    package var queueObstacle: ConcurrencyLimiterState.Obstacle? {
        state.withLock { $0.ticket }?.obstacle
    }

    // MARK: - Progress

    /// The hub of the observers; made for the first of them, because most requests have none.
    package var hub: ProgressHub {
        if let sharedTransfer { return sharedTransfer.progress }
        return state.withLock { state in
            if let hub = state.hub { return hub }
            let hub = ProgressHub(
                clock: services.clock, state.progress, isFinished: state.hasFinalProgress)
            state.hub = hub
            return hub
        }
    }

    /// The current progress.
    package var currentProgress: TransferProgress {
        if let sharedTransfer { return sharedTransfer.progress.current }
        let (progress, hub) = state.withLock { ($0.progress, $0.hub) }
        return hub?.current ?? progress
    }

    /// Changes the progress, and calls handlers.
    func updateProgress(_ change: (inout TransferProgress) -> Void) {
        changeUnobserved(change)?.update(change)
    }

    /// Like ``updateProgress(_:)``, for a transport's thread: handlers are called on another thread.
    func updateProgressAsynchronously(_ change: (inout TransferProgress) -> Void) {
        changeUnobserved(change)?.updateAsynchronously(change)
    }

    /// Changes the progress if it has no hub, otherwise returns that.
    private func changeUnobserved(_ change: (inout TransferProgress) -> Void) -> ProgressHub? {
        if let sharedTransfer { return sharedTransfer.progress }
        return state.withLock { state in
            if state.hub == nil { change(&state.progress) }
            return state.hub
        }
    }

    /// Ends the progress; returns whether every handler has received the last value and returned.
    ///
    /// - Parameter isWhole: Whether the transfer is complete: unknown totals then become known.
    func finishProgress(isWhole: Bool) -> Bool {
        let hub = state.withLock { state in
            if state.hub == nil, !state.hasFinalProgress, isWhole {
                state.progress.completeTotals()
            }
            state.hasFinalProgress = true
            return state.hub
        }
        return hub?.finish(isWhole: isWhole) ?? true
    }

    /// Waits, after the end of the progress, until every handler has received the last value.
    nonisolated(nonsending) func untilProgressIsDelivered() async {
        await state.withLock { $0.hub }?.untilDelivered()
    }

    /// The progress of the task.
    public var progress: ProgressUpdates {
        members?.forwardProgress()
        return ProgressUpdates(hub)
    }

    /// Calls a handler when the progress changes, on any thread, one call at a time; the last call returns before the task's
    /// end is delivered.
    ///
    /// If bytes were transferred before, the first call is with the current value. The end waits for a running call, so a
    /// handler must not wait for the end. It can cancel the task.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two calls, except the last one (default 100 ms).
    ///   - bytes: The number of bytes, in either direction, after which a call happens earlier (default `nil`: never).
    public func onProgress(
        every interval: Duration = .milliseconds(100), bytes: Int64? = nil,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        members?.forwardProgress()
        hub.listen(every: interval, bytes: bytes, handler)
    }

    // MARK: - The request that was sent, and the response of the store

    /// The latest request that was given to the transport, without its body; `nil` before the first.
    ///
    /// It shows what retries, redirects, request processors, interceptors and authenticators made of the endpoint: the
    /// method, the URL, and the header fields with cookies and credentials. The transport adds the fields that
    /// ``TransportRequest/headers`` names. `print` shows neither secrets nor the query; ``TransportRequest/url`` and
    /// ``TransportRequest/headers`` contain them. `nil` if a stored response was used without a request. A task that has
    /// joined the transfer of another shows that request at its end.
    public var sentRequest: TransportRequest? {
        let (sent, outcome) = state.withLock { ($0.sentRequest, $0.outcome) }
        return sent ?? (try? outcome?.result.get())?.sentRequest
    }

    func keep(sentRequest: TransportRequest) {
        let replaced = eventOwner.state.withLock { exchange(&$0.sentRequest, with: sentRequest) }
        withExtendedLifetime(replaced) {}
    }

    /// Whether a decider decides about failures of processors and of the decoding.
    var retriesProcessing: Bool {
        // Not the policy, which would be copied.
        if let own = description.retryPolicy { return own.retriesProcessing }
        return configuration.retryPolicy.retriesProcessing
    }

    /// The request as it was built last, if the request ``retriesProcessing``.
    var builtRequest: TransportRequest? { state.withLock { $0.builtRequest?.value } }

    func keep(builtRequest: TransportRequest) {
        state.withLock { $0.builtRequest = Shared(builtRequest) }
    }

    /// The reason why the store had no usable response; `nil` if it had one, or was not asked.
    package var cacheMiss: CacheMissReason? { state.withLock { $0.cacheMiss } }

    func keep(cacheMiss: CacheMissReason) {
        eventOwner.state.withLock { $0.cacheMiss = cacheMiss }
    }

    /// Stores an action that removes the response from the store again.
    package func keep(removal: @escaping @Sendable () -> Void) {
        eventOwner.state.withLock { $0.removal = removal }
    }

    /// Removes the response from the store, because it turned out to be unusable.
    package func removeStoredEntry() {
        let removal = state.withLock { $0.removal.take() }
        removal?()
    }

    // MARK: - The stored response before the end

    /// The stored response of ``CachePolicy/cacheThenLoad``, after it was delivered.
    var storedOutcome: TaskOutcome? {
        state.withLock { $0.stored?.value.isDelivered == true ? $0.stored?.value.outcome : nil }
    }

    /// Whether the response of the end equals the stored one that was delivered.
    package var repeatsStored: Bool { state.withLock { $0.stored?.value.isRepeated ?? false } }

    /// Delivers the stored response to the receiver, or to the one that is set later.
    func deliverStored(_ outcome: TaskOutcome) {
        let receiver = changeStored {
            ($0.outcome, $0.isDelivered) = (outcome, true)
            return $0.receiver.take()
        }
        receiver?(outcome)
    }

    /// Records that the response of the end equals the stored one.
    func markStoredAsRepeated() { changeStored { $0.isRepeated = true } }

    /// Calls a handler once with the stored response, on any thread, before the end, which releases it, and immediately
    /// if the response was delivered before.
    package func whenStored(_ receiver: @escaping @Sendable (TaskOutcome) -> Void) {
        let outcome = changeStored { stored -> TaskOutcome? in
            if stored.isDelivered { return stored.outcome }
            stored.receiver = receiver
            return nil
        }
        if let outcome { receiver(outcome) }
        whenEnded { [self] _ in changeStored { $0.receiver = nil } }
    }

    @discardableResult
    private func changeStored<Result>(_ change: (inout StoredDelivery) -> Result) -> Result {
        let (result, replaced) = state.withLock { state in
            var stored = state.stored?.value ?? StoredDelivery()
            let result = change(&stored)
            return (result, exchange(&state.stored, with: Shared(stored)))
        }
        // Released outside the lock: a receiver may hold the last reference to objects of users.
        withExtendedLifetime(replaced) {}
        return result
    }

    // MARK: - The end

    /// Waits for the end.
    ///
    /// Cancelling the waiting Swift task cancels this task.
    package func outcome() async -> TaskOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                whenEnded { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Waits for the end.
    ///
    /// Cancelling the waiting Swift task has no effect.
    ///
    ///     task.cancel()
    ///     await task.untilEnded()     // no code of the request runs any more
    public func untilEnded() async {
        await withCheckedContinuation { continuation in
            whenEnded { _ in continuation.resume() }
        }
    }

    /// Calls a handler once with the outcome, on any thread; immediately if the task has ended.
    package func whenEnded(_ handler: @escaping @Sendable (TaskOutcome) -> Void) {
        let outcome = state.withLock { state -> TaskOutcome? in
            if state.endedAt != nil { return state.outcome }
            if state.handler == nil {
                state.handler = EndHandler(call: handler)
            } else {
                state.furtherHandlers.append(EndHandler(call: handler))
            }
            return nil
        }
        if let outcome { handler(outcome) }
    }

    /// Waits for the response.
    ///
    /// - Throws: ``RequestError``; ``RequestError/Code/invalidCombination`` for a batch, a chain or a graph, which has
    ///   results of its own. Cancelling the waiting Swift task cancels this task.
    public func response() async throws(RequestError) -> Response {
        try await outcome().result.get()
    }

    /// The outcome, and the end on the agent's clock; `nil` before the end.
    package var ended: (outcome: TaskOutcome, at: Duration)? {
        state.withLock { state in
            state.outcome.map { ($0, state.endedAt ?? startedAt) }
        }
    }

    /// The outcome of a task that has ended.
    package var finalOutcome: TaskOutcome {
        state.withLock { $0.outcome } ?? TaskOutcome(result: .failure(.cancelled))
    }

    /// Records the end of the task; returns the reason to stop, if there was one.
    package func end() -> TaskState.StopReason? {
        let (reason, observers) = state.withLock { state in
            (
                pause.taskState.change { $0.end() },
                state.observers.isEmpty ? [] : exchange(&state.observers, with: [])
            )
        }
        if isWatched.load(ordering: .sequentiallyConsistent) {
            for watch in state.withLock({ $0.phaseObservers.close() }) { watch.update { .ended } }
        }
        for observer in observers { observer(.ended) }
        return reason
    }

    /// Delivers the outcome to the handlers of the end.
    ///
    /// The agent calls this last.
    package func finish(_ outcome: TaskOutcome) {
        let (handler, furtherHandlers, deadline) = state.withLock { state in
            state.outcome = outcome
            state.endedAt = uptime
            return (
                state.handler.take(), exchange(&state.furtherHandlers, with: []),
                state.deadline.take()
            )
        }
        deadline?.cancel()
        handler?.call(outcome)
        for handler in furtherHandlers { handler.call(outcome) }
    }

    /// Claims the right to run and to end a task with a total time limit; false if it was claimed before.
    func begin() -> Bool { !hasBegun.exchange(true, ordering: .acquiringAndReleasing) }

    /// Ends the total time limit of a task whose connection was handed over.
    func liftTimeLimit() { state.withLock { $0.deadline.take() }?.cancel() }

    /// Stores the end of the total time limit, which is cancelled at the end of the task.
    func limitTime(_ deadline: ScheduledCall) {
        let hasEnded = state.withLock { state in
            if state.outcome == nil { state.deadline = deadline }
            return state.outcome != nil
        }
        if hasEnded { deadline.cancel() }
    }

    // MARK: - Events

    /// The task to which events belong: for a shared transfer, one of its members.
    var eventOwner: RequestTask { sharedTransfer?.eventOwner ?? self }

    /// Keeps the place of the events that wait for another thread.
    func keep(drain: DrainTicket) { state.withLock { $0.drain = drain } }

    func takeDrain() -> DrainTicket? { state.withLock { $0.drain.take() } }
}

/// The outcome of a task.
package struct TaskOutcome: Sendable {
    package var result: Result<Response, RequestError>
    /// The decoded output of a typed endpoint; a reference, because copies of an absent existential cost every request
    /// calls of the runtime.
    package var output: Shared<any Sendable>?
    /// Whether a batch, a chain or a graph has succeeded, which has no response.
    package private(set) var hasNoResponse = false

    package init(result: Result<Response, RequestError>, output: Shared<any Sendable>? = nil) {
        self.result = result
        self.output = output
    }

    /// The outcome of a batch, a chain or a graph.
    init(ofComposite error: RequestError?) {
        hasNoResponse = error == nil
        result = .failure(
            error
                ?? RequestError(
                    .invalidCombination, stage: .process,
                    "The run of a batch, a chain or a graph has no response of its own. Read its results, or those of "
                        + "its requests."))
    }

    /// The error of a failed request.
    package var error: RequestError? {
        if !hasNoResponse, case .failure(let error) = result { error } else { nil }
    }
}
