public import Foundation
import Synchronization

/// One run of a request: what `start` returns.
///
/// It may be kept, sent about and cancelled from anywhere.
public final class RequestTask: Sendable, Identifiable {
    /// Stays the same over all attempts.
    public let id: UUID
    /// The endpoint's type name.
    public let endpoint: String
    /// The endpoint's tag.
    public let tag: Int

    private struct State {
        var life = TaskLife()
        var observers: [@Sendable (Change) -> Void] = []
        var outcome: TaskOutcome?
        /// Almost always there is one who waits for the end.
        var ending: Ending?
        var laterEndings: [Ending] = []
        var watches = Subscribers<PhaseWatch>()
    }

    /// Who waits for the end; in a structure of its own, where a function needs no box.
    private struct Ending {
        let tell: @Sendable (TaskOutcome) -> Void
    }

    package enum Change: Sendable { case willSuspend, didResume, willCancel, ended }

    private let state = Mutex(State())
    /// Where the agent keeps it; -1 where it does not.
    let place = Atomic<Int>(-1)
    package let context: TaskContext

    package init(context: TaskContext) {
        self.context = context
        id = context.id
        endpoint = context.description.endpoint
        tag = context.description.tag
    }

    /// Ends the task with ``RequestError/Code/cancelled``, unless it has ended.
    ///
    /// From then on nothing else can be its end, also when the answer is just coming in. Its callbacks
    /// are still called, once, with that error.
    public func cancel() { stop(.cancelled) }

    /// Holds the task: before its transfer begins, or in the middle of it, where the transport
    /// stops reading from the wire.
    ///
    /// Time limits go on counting. Before its transfer begins it holds no place in the limits meanwhile; a transfer that
    /// stands still keeps the one it has. What came in whole before is still delivered. A task that is suspended already stays so.
    public func suspend() {
        guard phase != .ended, context.pause.pause() else { return }
        context.emit(.suspended)
        if context.isWatched { tellPhase() }
        notify(.willSuspend)
    }

    /// Lets a suspended task go on; does nothing to any other.
    public func resume() {
        guard phase != .ended, context.pause.open() else { return }
        context.emit(.continued)
        if context.isWatched { tellPhase() }
        notify(.didResume)
    }

    /// How urgent the task is: set it while the task waits and its place in the line changes.
    public var priority: RequestPriority {
        get { context.priority }
        set { context.priority = newValue }
    }

    /// How far the task is.
    public var progress: ProgressUpdates { ProgressUpdates(context.progress) }

    /// Calls back on changes of the progress, from any thread, one call at a time; the last value comes before the
    /// task's end is told.
    ///
    /// The end waits for a call that is under way, so a handler must not wait for the end; it may cancel the task.
    ///
    /// - Parameters:
    ///   - interval: The least time between two calls, the last one excepted; default 100 ms.
    ///   - bytes: So many bytes more, in either direction, are told at once; `nil`, the default, waits for the time.
    public func onProgress(
        every interval: Duration = .milliseconds(100), bytes: Int64? = nil,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        context.progress.listen(every: interval, bytes: bytes, handler)
    }

    /// Where the task is in its life.
    public var phase: Phase {
        let stage = context.stage
        let isSuspended = context.pause.isPaused
        return state.withLock { $0.life.phase(at: stage, isSuspended: isSuspended) }
    }

    /// Tells whoever watches of each phase from now on, the present one first.
    func watch(_ watch: PhaseWatch) {
        guard let id = state.withLock({ $0.watches.add(watch) }) else {
            return watch.look { .ended }
        }
        watch.whenAbandoned { [weak self] in
            _ = self?.state.withLock { $0.watches.remove(id) }
        }
        context.watchStage { [weak self] in self?.tellPhase() }
        watch.look { phase }
        if phase == .ended { _ = state.withLock { $0.watches.remove(id) } }
    }

    private func endPhases() {
        for watch in state.withLock({ $0.watches.close() }) { watch.look { .ended } }
    }

    private func tellPhase() {
        for watch in state.withLock({ Array($0.watches.entries.values) }) { watch.look { phase } }
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

    /// Waits for the end, whatever it is; cancelling the waiting Swift task changes nothing.
    ///
    ///     task.cancel()
    ///     await task.untilEnded()     // nothing of it runs any more
    public func untilEnded() async {
        await withCheckedContinuation { continuation in
            whenEnded { _ in continuation.resume() }
        }
    }

    /// Calls back once with what the task came to, on any thread; at once when it has ended.
    package func whenEnded(_ ending: @escaping @Sendable (TaskOutcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil {
                if state.ending == nil {
                    state.ending = Ending(tell: ending)
                } else {
                    state.laterEndings.append(Ending(tell: ending))
                }
            }
            return state.outcome
        }
        if let outcome { ending(outcome) }
    }

    /// Waits for the answer.
    ///
    /// - Throws: ``RequestError``. Cancelling the waiting Swift task cancels this task.
    public func response() async throws(RequestError) -> Response {
        try await outcome().result.get()
    }

    package func stop(_ reason: TaskLife.StopReason) {
        let (action, observers) = state.withLock { ($0.life.stop(reason), $0.observers) }
        guard action == .cancelWork else { return }
        if context.isWatched { tellPhase() }
        if reason == .cancelled {
            context.emit(.cancelled)
            for observer in observers { observer(.willCancel) }
        }
        context.scope.cancel()
    }

    /// Whether the task was told to stop; known before the cancellation reaches its work.
    package var isStopping: Bool { state.withLock { $0.life.stopReason != nil } }

    /// The one end; returns why the task was told to stop, if it was.
    package func end() -> TaskLife.StopReason? {
        let (reason, observers) = state.withLock { state in
            defer { state.observers = [] }
            return (state.life.end(), state.observers)
        }
        if context.isWatched { endPhases() }
        for observer in observers { observer(.ended) }
        return reason
    }

    /// Tells everybody who waits what the task came to; the last thing the agent does.
    package func finish(_ outcome: TaskOutcome) {
        let (ending, laterEndings) = state.withLock { state in
            state.outcome = outcome
            return (state.ending.take(), exchange(&state.laterEndings, with: []))
        }
        ending?.tell(outcome)
        for ending in laterEndings { ending.tell(outcome) }
    }

    /// Calls back on every change until the end, the end included; false, and never, when it has ended.
    @discardableResult
    package func observe(_ observer: @escaping @Sendable (Change) -> Void) -> Bool {
        state.withLock { state in
            guard state.life.state != .ended else { return false }
            state.observers.append(observer)
            return true
        }
    }

    private func notify(_ change: Change) {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer(change) }
    }
}

/// What a task came to.
package struct TaskOutcome: Sendable {
    package var result: Result<Response, RequestError>
    /// The typed output, where the endpoint makes one.
    package var output: (any Sendable)?

    package init(result: Result<Response, RequestError>, output: (any Sendable)? = nil) {
        self.result = result
        self.output = output
    }
}
