public import ErrandTransport
public import Foundation
import Synchronization

/// One run of a request, a batch, a chain or a graph, as `start` returns it.
///
/// It can be kept, passed between actors and cancelled from any thread. Cancelling, suspending and resuming the run of a
/// batch, a chain or a graph does the same to its ``members-swift.property``; its progress is theirs together, in which a
/// total is known when every member has started and knows its own.
public final class RequestTask: Sendable, Identifiable {
    /// The identifier; the same for all attempts.
    public var id: UUID { context.id }
    /// The endpoint's type name.
    public var endpoint: String { context.description.endpoint }
    /// The endpoint's tag.
    public var tag: Int { context.description.tag }

    /// The typed values that were attached to the request.
    public var metadata: RequestMetadata { context.description.metadata }

    /// The latest request that was given to the transport, without its body; `nil` before the first.
    ///
    /// It shows what retries, redirects, request processors, interceptors and authenticators made of the endpoint: the
    /// method, the URL, and the header fields with cookies and credentials. The transport adds the fields that
    /// ``TransportRequest/headers`` names. `print` shows neither secrets nor the query; ``TransportRequest/url`` and
    /// ``TransportRequest/headers`` contain them. `nil` if a stored response was used without a request. A task that has
    /// joined the transfer of another shows that request at its end.
    public var sentRequest: TransportRequest? {
        context.sentRequest ?? (try? state.withLock { $0.outcome }?.result.get())?.sentRequest
    }

    private struct State {
        var observers: [@Sendable (Change) -> Void] = []
        var outcome: TaskOutcome?
        var endedAt: Duration?
        /// The first handler of the end.
        ///
        /// There is nearly always exactly one, so it needs no array.
        var handler: EndHandler?
        var furtherHandlers: [EndHandler] = []
        /// The end of the total time limit, if there is one.
        var deadline: ScheduledCall?
        var phaseObservers = Subscribers<PhaseObserver>()
    }

    /// A handler of the end, in a structure, so that storing the closure allocates no box.
    private struct EndHandler {
        let call: @Sendable (TaskOutcome) -> Void
    }

    package enum Change: Sendable { case willSuspend, didResume, willCancel, ended }

    private let state = Mutex(State())
    /// The index in the agent's table; -1 if the task is not in it.
    let place = Atomic<Int>(-1)
    private let hasBegun = Atomic(false)
    package let context: TaskContext
    /// The members of the run of a batch, a chain or a graph; `nil` for a request.
    public let members: Members?

    package init(context: TaskContext, members: Members? = nil) {
        self.context = context
        self.members = members
    }

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
        context.discardsPart = discardingPart
        cancel()
    }

    /// Suspends the task: before its transfer begins, or during the transfer, when the transport stops reading.
    ///
    /// Time limits continue to count. Before the transfer the task does not count against `limits`; a suspended transfer
    /// does. A response that has arrived completely is still delivered. Suspending a suspended task has no effect.
    public func suspend() {
        let observers = state.withLock { $0.observers }
        guard context.pause.pause() else { return }
        context.emit(.suspended)
        if context.isWatched { notifyPhaseObservers() }
        for observer in observers { observer(.willSuspend) }
    }

    /// Resumes a suspended task; has no effect on any other.
    public func resume() {
        // The task may end on another thread as soon as it continues, and the end removes the observers.
        let observers = state.withLock { $0.observers }
        guard context.pause.open() else { return }
        context.emit(.continued)
        if context.isWatched { notifyPhaseObservers() }
        for observer in observers { observer(.didResume) }
    }

    /// The priority.
    ///
    /// Changing it while the task waits changes its position in the queue. For a batch, a chain or a graph, it becomes the
    /// priority of the members in progress, and of those that start later.
    public var priority: RequestPriority {
        get { context.priority }
        set {
            context.priority = newValue
            members?.prioritize(newValue)
        }
    }

    /// Why the task waits for a concurrency permit; `nil` if it does not wait for one.
    package var queueObstacle: ConcurrencyLimiterState.Obstacle? { context.queueObstacle }

    /// The progress of the task.
    public var progress: ProgressUpdates {
        members?.forwardProgress()
        return ProgressUpdates(context.progress)
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
        context.progress.listen(every: interval, bytes: bytes, handler)
    }

    /// The current phase.
    public var phase: Phase {
        context.pause.taskState.value.phase
    }

    /// Notifies an observer of the current phase and of each later one.
    func watch(_ watch: PhaseObserver) {
        guard let id = state.withLock({ $0.phaseObservers.add(watch) }) else {
            return watch.update { .ended }
        }
        watch.whenAbandoned { [weak self] in
            _ = self?.state.withLock { $0.phaseObservers.remove(id) }
        }
        context.watchStage { [weak self] in self?.notifyPhaseObservers() }
        watch.update { phase }
        if phase == .ended { _ = state.withLock { $0.phaseObservers.remove(id) } }
    }

    private func endPhases() {
        for watch in state.withLock({ $0.phaseObservers.close() }) { watch.update { .ended } }
    }

    private func notifyPhaseObservers() {
        for watch in state.withLock({ Array($0.phaseObservers.entries.values) }) {
            watch.update { phase }
        }
    }

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
            state.outcome.map { ($0, state.endedAt ?? context.startedAt) }
        }
    }

    /// The outcome of a task that has ended.
    package var finalOutcome: TaskOutcome {
        state.withLock { $0.outcome } ?? TaskOutcome(result: .failure(.cancelled))
    }

    package func stop(_ reason: TaskState.StopReason) {
        let (isFirst, observers) = state.withLock {
            (context.pause.taskState.change { $0.stop(reason) }, $0.observers)
        }
        guard isFirst else { return }
        if context.isWatched { notifyPhaseObservers() }
        if reason == .cancelled {
            context.emit(.cancelled)
            for observer in observers { observer(.willCancel) }
        }
        context.scope.cancel()
        members?.stop()
    }

    /// Whether the task has a reason to stop, which is set before its work is cancelled.
    package var isStopping: Bool { context.pause.taskState.value.stopReason != nil }

    @inline(never)  // decision 10
    func checkNotStopping() throws(RequestError) { if isStopping { throw .cancelled } }

    /// Records the end of the task; returns the reason to stop, if there was one.
    package func end() -> TaskState.StopReason? {
        let (reason, observers) = state.withLock { state in
            defer { state.observers = [] }
            return (context.pause.taskState.change { $0.end() }, state.observers)
        }
        if context.isWatched { endPhases() }
        for observer in observers { observer(.ended) }
        return reason
    }

    /// Delivers the outcome to the handlers of the end.
    ///
    /// The agent calls this last.
    package func finish(_ outcome: TaskOutcome) {
        let (handler, furtherHandlers, deadline) = state.withLock { state in
            state.outcome = outcome
            state.endedAt = context.uptime
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

    /// Calls an observer on every change up to and including the end; returns false if the task has ended.
    ///
    /// The call for a suspension or a resumption can follow that for the end, if another thread ends the task.
    @discardableResult
    package func observe(_ observer: @escaping @Sendable (Change) -> Void) -> Bool {
        state.withLock { state in
            guard !context.pause.taskState.value.hasEnded else { return false }
            state.observers.append(observer)
            return true
        }
    }
}

/// The outcome of a task.
package struct TaskOutcome: Sendable {
    package var result: Result<Response, RequestError>
    /// The decoded output of a typed endpoint.
    package var output: (any Sendable)?
    /// Whether a batch, a chain or a graph has succeeded, which has no response.
    package private(set) var hasNoResponse = false

    package init(result: Result<Response, RequestError>, output: (any Sendable)? = nil) {
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
