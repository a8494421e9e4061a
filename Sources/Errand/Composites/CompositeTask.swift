public import ErrandCore
public import Foundation
import Synchronization

/// One run of a batch or a chain; may be used from any thread.
nonisolated public final class CompositeTask: MemberTask, Identifiable {
    /// Identifies the run.
    public let id = UUID()

    enum Change: Sendable { case willSuspend, didResume, willCancel }

    /// Why the run is to stop before its own end; the first reason is kept.
    private enum StopReason: Sendable { case cancelled, deadline(Duration) }

    private struct State {
        var members: [UUID: any MemberTask] = [:]
        var stopReason: StopReason?
        var isPaused = false
        var hasEnded = false
        var finished = 0
        var total = 0
        var bytes = CompositeBytes()
        var watcher: (@Sendable () -> Void)?
        /// Changes that ``takeChanges()`` has not returned yet.
        var changes: [Change] = []
        var owners: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let hub = ProgressHub(clock: SystemClock())

    /// The agent at the call, which performs all members; `nil` leaves the choice to each.
    let agent: RequestAgent?

    init(total: Int = 0, agent: RequestAgent? = nil) {
        self.agent = agent
        state.withLock { $0.total = total }
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
    }

    /// Cancels the members in progress because the deadline of the batch or chain has passed.
    func expire(after deadline: Duration) {
        let members = state.withLock { state in
            guard !state.hasEnded, state.stopReason == nil else { return [any MemberTask]() }
            state.stopReason = .deadline(deadline)
            return Array(state.members.values)
        }
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

    /// The progress of all members together; a total is known when every member has started and
    /// knows its own.
    public var transferProgress: ProgressUpdates { ProgressUpdates(hub) }

    /// Whether ``cancel()`` was called before the end of the run.
    public var isCancelled: Bool {
        if case .cancelled = state.withLock({ $0.stopReason }) { true } else { false }
    }

    /// The error with which the run ends because it was cancelled or its deadline has passed; `nil` if neither.
    var stopError: RequestError? {
        switch state.withLock({ $0.stopReason }) {
        case nil: nil
        case .cancelled: .cancelled
        case .deadline(let deadline):
            RequestError(
                .timedOut, stage: .schedule,
                "The batch or chain took longer than its deadline of \(deadline), so its members were cancelled. "
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
        _ change: Change, _ body: (inout State) -> Bool, to act: (any MemberTask) -> Void
    ) {
        let (watcher, members) = state.withLock { state in
            guard !state.hasEnded, body(&state) else {
                return (nil as (@Sendable () -> Void)?, [] as [any MemberTask])
            }
            if state.watcher != nil { state.changes.append(change) }
            return (state.watcher, Array(state.members.values))
        }
        watcher?()
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
    func enter(_ member: some MemberTask) {
        let (isStopping, isPaused) = state.withLock { state in
            state.members[member.id] = member
            return (state.stopReason != nil, state.isPaused)
        }
        member.listen { [weak self, id = member.id] progress in
            self?.take(progress, of: id)
        }
        if isPaused { member.suspend() }
        if isStopping { member.cancel() }
    }

    /// Records the progress of a member.
    ///
    /// Lock order: the hub's lock, then the lock of this run.
    private func take(_ progress: TransferProgress, of member: UUID) {
        state.withLock { $0.bytes.take(progress, of: member) }
        hub.update { sum in
            sum = state.withLock { $0.bytes.sum(ofMembers: $0.total) }
        }
    }

    /// Removes a member that has ended.
    func leave(_ member: some MemberTask) {
        state.withLock { state in
            state.members[member.id] = nil
            state.finished += 1
        }
    }

    func listen(_ handler: @escaping @Sendable (TransferProgress) -> Void) {
        hub.listen(handler)
    }

    func cancelMembers() {
        for member in state.withLock({ Array($0.members.values) }) { member.cancel() }
    }

    func expect(total: Int) { state.withLock { $0.total = total } }

    /// Ends the run; later calls of its methods have no effect.
    func end() {
        let owners = state.withLock { state in
            state.hasEnded = true
            state.watcher = nil
            defer { state.owners = [] }
            return state.owners
        }
        hub.finish()
        for forget in owners { forget() }
    }
}
