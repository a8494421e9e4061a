package import ErrandTransport
import Synchronization

/// Holds a suspended request: before its transfer begins, or during the transfer.
///
/// ``TaskState`` records whether the request is suspended; this type stops and continues the work accordingly.
package final class SuspensionPoint: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        var waiters: [Waiter] = []
        /// The current transfers; a download can have several.
        var transfers: [any Transfer] = []
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
            guard hasPaused, !transfers.isEmpty else { return [] }
            hasPaused = hasSeveral
            return transfers
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

    /// Waits until the request is not suspended, or the scope is cancelled.
    package func pass(_ scope: CancellationScope) async {
        guard isPaused else { return }
        await scope.wait {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    guard isPaused, !scope.isCancelled else { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            // The scope is that of the task, of an attempt, or of all requests of a download.
            for waiter in self.state.withLock({ $0.takeWaiters() }) { waiter.resume() }
        }
    }

    /// Adds a current transfer.
    package func attach(_ transfer: any Transfer) {
        let wakes = state.withLock { state in
            state.transfers.append(transfer)
            // The request may have been resumed after a chunk got `.pause` and before the transfer was known here.
            guard state.hasPaused, !isPaused else { return false }
            state.hasPaused = state.hasSeveral
            return true
        }
        if wakes { transfer.resumeReceiving() }
    }

    /// Removes a transfer that has ended.
    package func detach(_ transfer: (any Transfer)?) {
        state.withLock { state in
            state.transfers.removeAll { $0 === transfer }
            if state.transfers.isEmpty, !state.hasSeveral { state.hasPaused = false }
        }
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
