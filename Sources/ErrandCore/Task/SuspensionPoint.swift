package import ErrandTransport
import Synchronization

/// Holds a suspended request: before its transfer begins, or during the transfer.
///
/// ``TaskState`` records whether the request is suspended; this type stops and continues the work accordingly.
package final class SuspensionPoint: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        var waiter: Waiter?
        var transfer: (any Transfer)?
        /// Whether the transfer got `.pause` for a chunk and therefore waits for `resumeReceiving()`.
        var transferWaits = false
        var observer: (@Sendable () -> Void)?
        /// Measures the current attempt, if its time is limited.
        var limit: AttemptLimit?
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
        let (hasChanged, observer, limit, waiter, transfer) = state.withLock {
            state -> (Bool, (@Sendable () -> Void)?, AttemptLimit?, Waiter?, (any Transfer)?) in
            guard taskState.change({ $0.resume() }) else { return (false, nil, nil, nil, nil) }
            let waiter = state.waiter.take()
            // A transfer that got `.pause` before `start` returned is unknown here: `transferWaits` stays set,
            // and `attach` resumes it.
            let transfer = state.transferWaits ? state.transfer : nil
            if transfer != nil { state.transferWaits = false }
            return (true, state.observer, state.limit, waiter, transfer)
        }
        guard hasChanged else { return false }
        limit?.settle()
        waiter?.resume()
        transfer?.resumeReceiving()
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
                    state.waiter = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiter.take() }
            waiter?.resume()
        }
    }

    /// Sets the current transfer.
    package func attach(_ transfer: any Transfer) {
        let wakes = state.withLock { state in
            state.transfer = transfer
            // The request was resumed after a chunk got `.pause` and before the transfer was known here.
            guard state.transferWaits, !isPaused else { return false }
            state.transferWaits = false
            return true
        }
        if wakes { transfer.resumeReceiving() }
    }

    /// Removes a transfer that has ended, unless another one has begun since.
    package func detach(_ transfer: (any Transfer)?) {
        state.withLock { state in
            guard state.transfer == nil || state.transfer === transfer else { return }
            state.transfer = nil
            state.transferWaits = false
        }
    }

    /// The value that the receiver of a transfer returns for a chunk.
    package func demand() -> Demand {
        state.withLock { state in
            guard isPaused else { return .more }
            state.transferWaits = true
            return .pause
        }
    }
}
