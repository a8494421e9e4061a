package import ErrandTransport
import Synchronization

/// Holds a suspended request: before its transfer begins, or during the transfer.
///
/// ``TaskState`` records whether the request is suspended; this type stops and continues the work accordingly. Not a
/// class, because it is a part of the run.
package struct SuspensionPoint: ~Copyable, Sendable {
    // Not private, for which Swift 6.3.1 emits an invalid module in a structure without copies.
    typealias Waiter = CheckedContinuation<Void, Never>

    struct State {
        var waiters: [Waiter] = []
        /// The current transfer; not in an array, which would be allocated.
        var transfer: (any Transfer)?
        /// Further current transfers, of a download.
        var others: [any Transfer] = []
        /// Whether there can be several transfers at a time.
        var hasSeveral = false
        /// Whether a transfer got `.pause` for a chunk, and may therefore wait for `resumeReceiving()`.
        ///
        /// It stays true with several transfers, of which one may not be known here yet: a transfer that does not wait
        /// ignores the call.
        var hasPaused = false
        var observer: (@Sendable () -> Void)?
        /// Measures the current attempt, if its time is limited.
        var limit: AttemptLimit?

        mutating func takeWaiters() -> [Waiter] { exchange(&waiters, with: []) }

        /// The transfers that may wait.
        mutating func takePaused() -> [any Transfer] {
            guard hasPaused, transfer != nil || !others.isEmpty else { return [] }
            hasPaused = hasSeveral
            return others + [transfer].compactMap(\.self)
        }
    }

    /// The state of the request, or of the shared transfer.
    let taskState = AtomicTaskState()
    private let state = Mutex(State())

    package init() {}

    package var isPaused: Bool { taskState.value.isSuspended }

    /// Suspends the request; false if it is suspended or has ended.
    @discardableResult
    package func pause() -> Bool {
        let (hasChanged, observer, limit) = state.withLock {
            (taskState.change { $0.suspend() }, $0.observer, $0.limit)
        }
        guard hasChanged else { return false }
        limit?.settle()
        observer?()
        return true
    }

    /// Ends the suspension; false if the request is not suspended or has ended.
    @discardableResult
    package func open() -> Bool {
        let (hasChanged, observer, limit, waiters, transfers) = state.withLock {
            state -> (Bool, (@Sendable () -> Void)?, AttemptLimit?, [Waiter], [any Transfer]) in
            guard taskState.change({ $0.resume() }) else { return (false, nil, nil, [], []) }
            let waiters = state.takeWaiters()
            // A transfer that got `.pause` before `start` returned is unknown here: `attach` resumes it.
            return (true, state.observer, state.limit, waiters, state.takePaused())
        }
        guard hasChanged else { return false }
        limit?.settle()
        for waiter in waiters { waiter.resume() }
        for transfer in transfers { transfer.resumeReceiving() }
        observer?()
        return true
    }

    /// Sets the one observer, which is called outside the lock after each suspension and resumption.
    package func watch(_ observer: (@Sendable () -> Void)?) {
        state.withLock { $0.observer = observer }
    }

    /// Sets the limit that is notified of each suspension and resumption.
    func meter(_ limit: AttemptLimit?) {
        let old = state.withLock { exchange(&$0.limit, with: limit) }
        withExtendedLifetime(old) {}
    }

    /// Adds a waiter; false if the request is not suspended or the scope is cancelled.
    fileprivate func add(_ waiter: Waiter, _ scope: CancellationScope) -> Bool {
        state.withLock { state in
            guard isPaused, !scope.isCancelled else { return false }
            state.waiters.append(waiter)
            return true
        }
    }

    fileprivate func releaseWaiters() {
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
    }

    /// Adds a current transfer.
    package func attach(_ transfer: any Transfer) {
        let wakes = state.withLock { state in
            if state.transfer == nil {
                state.transfer = transfer
            } else {
                state.others.append(transfer)
            }
            // The request may have been resumed after a chunk got `.pause` and before the transfer was known here.
            guard state.hasPaused, !isPaused else { return false }
            state.hasPaused = state.hasSeveral
            return true
        }
        if wakes { transfer.resumeReceiving() }
    }

    /// Removes a transfer that has ended.
    package func detach(_ transfer: (any Transfer)?) {
        let removed = state.withLock { state -> (any Transfer)? in
            var removed: (any Transfer)?
            if state.transfer === transfer {
                removed = state.transfer.take()
            } else if !state.others.isEmpty {
                state.others.removeAll { $0 === transfer }
            }
            if state.transfer == nil, state.others.isEmpty, !state.hasSeveral {
                state.hasPaused = false
            }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Declares that the request can have several transfers at a time.
    func expectSeveralTransfers() { state.withLock { $0.hasSeveral = true } }

    /// The value that the receiver of a transfer returns for a chunk.
    package func demand() -> Demand {
        state.withLock { state in
            guard isPaused else { return .more }
            state.hasPaused = true
            return .pause
        }
    }
}

extension RequestTask {
    /// Waits until the task is not suspended, or the scope is cancelled.
    func untilResumed(_ scope: CancellationScope) async {
        guard pause.isPaused else { return }
        await scope.wait {
            await withCheckedContinuation { continuation in
                if !pause.add(continuation, scope) { continuation.resume() }
            }
        } onCancel: {
            // The scope is that of the task, of an attempt, or of all requests of a download.
            self.pause.releaseWaiters()
        }
    }
}
