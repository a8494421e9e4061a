import Synchronization

/// Where a suspended task stops: before its transfer begins, or in the middle of it.
package final class PauseGate: Sendable {
    private struct State {
        var isPaused = false
        var waiter: CheckedContinuation<Void, Never>?
        var transfer: (any Transfer)?
        /// A chunk was answered with `.pause`, so the transfer must be told to go on.
        var transferWaits = false
        var watcher: (@Sendable () -> Void)?
        /// Counts the time of the attempt that is under way, where that is limited.
        var limit: AttemptLimit?
    }

    private let state = Mutex(State())

    package init() {}

    package var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Closes the gate; false when it was closed.
    @discardableResult
    package func pause() -> Bool {
        let (isNew, watcher, limit) = state.withLock { state in
            defer { state.isPaused = true }
            return (!state.isPaused, state.watcher, state.limit)
        }
        if isNew {
            limit?.settle()
            watcher?()
        }
        return isNew
    }

    /// Lets everything go on; false when the gate was open.
    @discardableResult
    package func open() -> Bool {
        let (isNew, watcher, limit, waiter, transfer) = state.withLock { state in
            let wasPaused = state.isPaused
            let waiter = state.waiter
            // A transfer that refused a chunk before `start` returned is not known here yet: it stays noted
            // as waiting, and `attach` wakes it.
            let wakes = state.transferWaits ? state.transfer : nil
            state.isPaused = false
            state.waiter = nil
            if wakes != nil { state.transferWaits = false }
            return (wasPaused, state.watcher, state.limit, waiter, wakes)
        }
        if isNew { limit?.settle() }
        waiter?.resume()
        transfer?.resumeReceiving()
        if isNew { watcher?() }
        return isNew
    }

    /// Calls back, outside the lock, after each change between open and closed.
    ///
    /// One watcher at most.
    package func watch(_ watcher: (@Sendable () -> Void)?) {
        state.withLock { $0.watcher = watcher }
    }

    /// Tells the limit of an attempt, after each change, until it is replaced.
    func meter(_ limit: AttemptLimit?) {
        let old = state.withLock { exchange(&$0.limit, with: limit) }
        withExtendedLifetime(old) {}
    }

    /// Waits until the gate is open, or the scope is cancelled.
    package func pass(_ scope: CancellationScope) async {
        guard isPaused else { return }
        await scope.wait {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    guard state.isPaused, !scope.isCancelled else { return true }
                    state.waiter = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            let waiter = self.state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }

    /// The transfer that is under way, or none.
    package func attach(_ transfer: (any Transfer)?) {
        let wakes = state.withLock { state in
            state.transfer = transfer
            guard transfer != nil else {
                state.transferWaits = false
                return false
            }
            // It was resumed after a chunk had been refused and before the transfer was known here.
            guard state.transferWaits, !state.isPaused else { return false }
            state.transferWaits = false
            return true
        }
        if wakes { transfer?.resumeReceiving() }
    }

    /// What to answer to a chunk.
    package func demand() -> Demand {
        state.withLock { state in
            guard state.isPaused else { return .more }
            state.transferWaits = true
            return .pause
        }
    }
}
