public import ErrandCore
public import Foundation
import Synchronization

/// One run of a batch or a chain: may be kept, sent about and cancelled from anywhere.
nonisolated public final class CompositeTask: MemberTask, Identifiable {
    /// Identifies the run.
    public let id = UUID()

    enum Change: Sendable { case willSuspend, didResume, willCancel }

    private struct State {
        var members: [UUID: any MemberTask] = [:]
        var isCancelled = false
        var isPaused = false
        var hasEnded = false
        var finished = 0
        var total = 0
        var bytes = CompositeBytes()
        var watcher: (@Sendable () -> Void)?
        /// What the watcher has not taken yet.
        var changes: [Change] = []
        var owners: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let hub = ProgressHub(clock: SystemClock())

    init(total: Int = 0) { state.withLock { $0.total = total } }

    /// Cancels the members under way and starts no more; the whole ends with ``RequestError/Code/cancelled``.
    ///
    /// Does nothing to a run that has ended.
    public func cancel() {
        apply(.willCancel) { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        } to: {
            $0.cancel()
        }
    }

    /// Suspends the members under way, and those that follow when they start.
    public func suspend() {
        apply(.willSuspend) { state in
            defer { state.isPaused = true }
            return !state.isPaused
        } to: {
            $0.suspend()
        }
    }

    /// Lets suspended members go on.
    public func resume() {
        apply(.didResume) { state in
            defer { state.isPaused = false }
            return state.isPaused
        } to: {
            $0.resume()
        }
    }

    /// How many members have ended, and how many there are as far as is known.
    public var progress: (finished: Int, total: Int) {
        state.withLock { ($0.finished, $0.total) }
    }

    /// The bytes of all members together; a total is known once every member has begun and knows its own.
    public var transferProgress: ProgressUpdates { ProgressUpdates(hub) }

    /// Whether ``cancel()`` was called before the end.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the run when the owner goes, unless it has ended by then.
    ///
    /// The owner is not kept alive.
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

    /// Changes the state; where that changed anything, tells the watcher, then the members.
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

    /// Calls back on every change until the end, from any thread; ``takeChanges()`` has it then.
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

    func enter(_ member: some MemberTask) {
        let (isCancelled, isPaused) = state.withLock { state in
            state.members[member.id] = member
            return (state.isCancelled, state.isPaused)
        }
        member.listen { [weak self, id = member.id] progress in
            self?.take(progress, of: id)
        }
        if isPaused { member.suspend() }
        if isCancelled { member.cancel() }
    }

    /// Locks nest in this direction only: the hub's, then the run's.
    private func take(_ progress: TransferProgress, of member: UUID) {
        state.withLock { $0.bytes.take(progress, of: member) }
        hub.update { sum in
            sum = state.withLock { $0.bytes.sum(ofMembers: $0.total) }
        }
    }

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

    /// The one end: nothing that is asked of the run later does anything.
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
