public import ErrandCore
import ErrandHTTP
public import Foundation
import Synchronization

/// One run of a batch, a chain or a graph; may be used from any thread.
nonisolated public final class CompositeTask: Sendable, Identifiable {
    /// Identifies the run.
    public let id = UUID()

    enum Change: Sendable { case willSuspend, didResume, willCancel }

    /// Why the run is to stop before its own end; the first reason is kept.
    private enum StopReason: Sendable { case cancelled, deadline(Duration) }

    private struct State {
        /// The tasks of the members in progress, by index.
        var members: [Int: MemberHandle] = [:]
        /// The Swift task of a closure of a chain in progress.
        var closure: Task<Void, Never>?
        var stopReason: StopReason?
        var isPaused = false
        var hasEnded = false
        /// Whether the progress of each member is forwarded; begins with the first observer.
        var forwardsProgress = false
        var finished = 0
        var total = 0
        var bytes = CompositeBytes()
        var watcher: (@Sendable () -> Void)?
        /// Changes that ``takeChanges()`` has not returned yet.
        var changes: [Change] = []
        var owners: [@Sendable () -> Void] = []
        /// Continuations of a chain that waits between two steps while it is suspended.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var observers: [AsyncStream<(finished: Int, total: Int)>.Continuation] = []

        /// The waiters that may continue now.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            isPaused && stopReason == nil ? [] : exchange(&waiters, with: [])
        }

        func notifyObservers() {
            for observer in observers { observer.yield((finished, total)) }
        }
    }

    private let state = Mutex(State())
    let hub = ProgressHub(clock: SystemClock())

    /// The agent at the call, which performs all members; `nil` leaves the choice to each.
    let agent: RequestAgent?
    /// The run that has this one as a member; `nil` for a run that was started by itself.
    private let parent: CompositeTask?

    private init(total: Int, agent: RequestAgent?, parent: CompositeTask?) {
        self.agent = agent
        self.parent = parent
        state.withLock { $0.total = total }
    }

    /// Creates a run that is started by itself.
    convenience init(_ composite: any CompositeRun, on agent: RequestAgent?) {
        self.init(total: composite.expectedCount, agent: agent, parent: nil)
    }

    /// Creates the run of a member of another run.
    convenience init(_ composite: any CompositeRun, within parent: CompositeTask) {
        self.init(total: composite.expectedCount, agent: parent.agent, parent: parent)
    }

    /// Whether this is the run itself, or a run that has it as a member, at any depth.
    func contains(_ run: CompositeTask) -> Bool {
        var current: CompositeTask? = run
        while let task = current {
            if task === self { return true }
            current = task.parent
        }
        return false
    }

    /// Cancels the members in progress and starts no more; the run ends with
    /// ``RequestError/Code/cancelled``.
    ///
    /// Does nothing if the run has ended.
    public func cancel() {
        apply(.willCancel) { state in
            guard state.stopReason == nil else { return false }
            state.stopReason = .cancelled
            return true
        } to: {
            $0.cancel()
        }
        if isCancelled { state.withLock { $0.closure }?.cancel() }
    }

    /// Cancels the members in progress because the deadline of the composite has passed.
    func expire(after deadline: Duration) {
        let (members, waiters, closure) = state.withLock { state in
            guard !state.hasEnded, state.stopReason == nil else {
                return (
                    [MemberHandle](), [CheckedContinuation<Void, Never>](),
                    nil as Task<Void, Never>?
                )
            }
            state.stopReason = .deadline(deadline)
            return (Array(state.members.values), state.takeWaiters(), state.closure)
        }
        closure?.cancel()
        for waiter in waiters { waiter.resume() }
        for member in members { member.cancel() }
    }

    /// Suspends the members in progress, and the following ones when they start.
    public func suspend() {
        apply(.willSuspend) { state in
            defer { state.isPaused = true }
            return !state.isPaused
        } to: {
            $0.suspend()
        }
    }

    /// Resumes suspended members.
    public func resume() {
        apply(.didResume) { state in
            defer { state.isPaused = false }
            return state.isPaused
        } to: {
            $0.resume()
        }
    }

    /// The number of members that have ended, and the number of all members known so far.
    public var progress: (finished: Int, total: Int) {
        state.withLock { ($0.finished, $0.total) }
    }

    /// The current ``progress`` and its later values until the end of the run.
    ///
    /// A slow reader gets the latest value.
    public var progressUpdates: AsyncStream<(finished: Int, total: Int)> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: (finished: Int, total: Int).self, bufferingPolicy: .bufferingNewest(1))
        let hasEnded = state.withLock { state in
            continuation.yield((state.finished, state.total))
            if !state.hasEnded { state.observers.append(continuation) }
            return state.hasEnded
        }
        if hasEnded { continuation.finish() }
        return stream
    }

    /// The progress of all members together; a total is known when every member has started and
    /// knows its own.
    public var transferProgress: ProgressUpdates {
        forwardProgress()
        return ProgressUpdates(hub)
    }

    /// Calls a handler when the bytes of all members change, on any thread, one call at a time.
    ///
    /// If bytes were transferred before, the first call is with the current value. The last call, with the final values,
    /// returns before the end of the run is delivered, so a handler must not wait for the end. A total is known when every
    /// member has started and knows its own.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between two calls, except the last one (default 100 ms).
    ///   - bytes: The number of bytes, in either direction, after which a call happens earlier (default `nil`: never).
    ///   - handler: Receives the progress of all members together.
    public func onProgress(
        every interval: Duration = .milliseconds(100), bytes: Int64? = nil,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        forwardProgress()
        hub.listen(every: interval, bytes: bytes, handler)
    }

    /// The progress of all members together as a Foundation `Progress`.
    ///
    /// The unit is the byte. It is indeterminate until every member has started and its total is known. Cancelling,
    /// pausing and resuming it does the same to the run. It is updated from any thread, at most ten times a second.
    public func foundationProgress() -> Progress {
        let progress = Progress(
            cancel: { [weak self] in self?.cancel() }, suspend: { [weak self] in self?.suspend() },
            resume: { [weak self] in self?.resume() })
        forwardProgress()
        hub.listen(every: .milliseconds(100), callsAtOnce: true) { progress.take($0) }
        return progress
    }

    /// Whether ``cancel()`` was called before the end of the run.
    public var isCancelled: Bool {
        if case .cancelled = state.withLock({ $0.stopReason }) { true } else { false }
    }

    /// The error with which the run ends because it was cancelled or its deadline has passed; `nil` if neither.
    package var stopError: RequestError? {
        switch state.withLock({ $0.stopReason }) {
        case nil: nil
        case .cancelled: .cancelled
        case .deadline(let deadline):
            RequestError(
                .timedOut, stage: .schedule,
                "The composite took longer than its deadline of \(deadline), so its members were cancelled. "
                    + "Increase the deadline.",
                timeout: .total)
        }
    }

    /// Cancels the run when the owner is deallocated, unless it has ended by then.
    ///
    /// The owner is held weakly.
    @discardableResult
    public func bind(to owner: RequestOwner) -> CompositeTask {
        owner.add(id) { [self] in cancel() }
        let isUnderWay = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.owners.append { [weak owner, id] in owner?.forget(id) }
            return true
        }
        if !isUnderWay { owner.forget(id) }
        return self
    }

    /// Changes the state.
    ///
    /// If it has changed, notifies the watcher and applies the change to the members.
    ///
    /// - Parameter body: Returns whether it has changed the state.
    private func apply(
        _ change: Change, _ body: (inout State) -> Bool, to act: (MemberHandle) -> Void
    ) {
        let (watcher, members, waiters) = state.withLock { state in
            guard !state.hasEnded, body(&state) else {
                return (
                    nil as (@Sendable () -> Void)?, [] as [MemberHandle],
                    [] as [CheckedContinuation<Void, Never>]
                )
            }
            if state.watcher != nil { state.changes.append(change) }
            return (state.watcher, Array(state.members.values), state.takeWaiters())
        }
        watcher?()
        for waiter in waiters { waiter.resume() }
        for member in members { act(member) }
    }

    /// Calls the watcher on every change until the end, from any thread; ``takeChanges()`` then
    /// returns the change.
    func watch(_ watcher: @escaping @Sendable () -> Void) {
        state.withLock { $0.watcher = watcher }
    }

    /// The changes since the last call, in order.
    func takeChanges() -> [Change] {
        state.withLock { state in
            defer { state.changes = [] }
            return state.changes
        }
    }

    /// Adds a member that was started; suspends or cancels it if the run is suspended or cancelled.
    ///
    /// - Parameter index: A number that no other member in progress has.
    func enter(_ member: MemberHandle, at index: Int) {
        let (isStopping, isPaused, isForwarded) = state.withLock { state in
            state.members[index] = member
            return (state.stopReason != nil, state.isPaused, state.forwardsProgress)
        }
        if isForwarded { forward(member, index) }
        if isPaused { member.suspend() }
        if isStopping { member.cancel() }
    }

    /// Removes a member that has ended.
    func leave(_ index: Int) {
        let isForwarded = state.withLock { state in
            let member = state.members.removeValue(forKey: index)
            state.finished += 1
            state.notifyObservers()
            if let member { state.bytes.end(index, with: member.progress.current) }
            return state.forwardsProgress
        }
        if isForwarded { updateProgress() }
    }

    /// Forwards the progress of the members from now on, also that of nested ones.
    ///
    /// Without an observer, members cost no handlers of their progress.
    private func forwardProgress() {
        let members = state.withLock { state in
            guard !state.forwardsProgress, !state.hasEnded else { return [Int: MemberHandle]() }
            state.forwardsProgress = true
            return state.members
        }
        for (index, member) in members { forward(member, index) }
        updateProgress()
    }

    private func forward(_ member: MemberHandle, _ index: Int) {
        if case .composite(let task) = member { task.forwardProgress() }
        member.progress.listen(callsAtOnce: true) { [weak self] progress in
            self?.take(progress, of: index)
        }
    }

    /// Records the progress of a member.
    private func take(_ progress: TransferProgress, of index: Int) {
        state.withLock { state in
            // A late value of a member that has ended; its last one was recorded.
            guard state.members[index] != nil else { return }
            state.bytes.take(progress, of: index)
        }
        updateProgress()
    }

    /// Calls the handlers on another thread: an observer may begin while its caller holds a lock that they need.
    ///
    /// Lock order: the hub's lock, then the lock of this run.
    private func updateProgress() {
        hub.updateAsynchronously { sum in
            sum = state.withLock { $0.bytes.sum(ofMembers: $0.total) }
        }
    }

    /// Calls a closure of the composite on the caller's actor, in a Swift task that is cancelled when the run is cancelled
    /// or its deadline passes.
    ///
    /// Waits for the end of the closure, which may use objects of the caller.
    nonisolated(nonsending) func call<Value>(
        _ body: @escaping () async throws -> Value
    ) async -> CallResult<Value> {
        await call(CallResult(), body)
    }

    private func call<Value>(
        _ result: CallResult<Value>, _ body: @escaping () async throws -> Value,
        isolation: isolated (any Actor)? = #isolation
    ) async -> CallResult<Value> {
        let work = Task {
            _ = isolation
            do { result.result = .success(try await body()) } catch {
                result.result = .failure(error)
            }
        }
        let isStopping = state.withLock { state in
            state.closure = work
            return state.stopReason != nil
        }
        if isStopping { work.cancel() }
        await work.value
        state.withLock { $0.closure = nil }
        return result
    }

    package func cancelMembers() {
        for member in state.withLock({ Array($0.members.values) }) { member.cancel() }
    }

    func expect(total: Int) {
        state.withLock { state in
            guard state.total != total else { return }
            state.total = total
            state.notifyObservers()
        }
    }

    /// Counts a member that will not run.
    package func skip() {
        state.withLock { state in
            state.finished += 1
            state.notifyObservers()
        }
    }

    /// Waits while the run is suspended and not stopped.
    nonisolated(nonsending) func untilResumed() async {
        guard state.withLock({ $0.isPaused && $0.stopReason == nil }) else { return }
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard state.isPaused, state.stopReason == nil else { return false }
                state.waiters.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    /// Ends the run; later calls of its methods have no effect.
    func end() {
        updateProgress()
        let (owners, observers) = state.withLock { state in
            state.hasEnded = true
            state.watcher = nil
            return (exchange(&state.owners, with: []), exchange(&state.observers, with: []))
        }
        hub.finish()
        for observer in observers { observer.finish() }
        for forget in owners { forget() }
    }
}
