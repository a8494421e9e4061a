import Synchronization

/// Where a suspended task stops: before its transfer begins, or in the middle of it.
package final class PauseGate: Sendable {
    private struct State {
        var isPaused = false
        var waiter: CheckedContinuation<Void, Never>?
        var transfer: (any Transfer)?
        /// A chunk was answered with `.pause`, so the transfer must be told to go on.
        var transferWaits = false
    }

    private let state = Mutex(State())

    package init() {}

    package var isPaused: Bool { state.withLock { $0.isPaused } }

    package func pause() { state.withLock { $0.isPaused = true } }

    /// Lets everything go on.
    package func open() {
        let (waiter, transfer) = state.withLock { state in
            state.isPaused = false
            defer {
                state.waiter = nil
                state.transferWaits = false
            }
            return (state.waiter, state.transferWaits ? state.transfer : nil)
        }
        waiter?.resume()
        transfer?.resumeReceiving()
    }

    /// Waits until the gate is open, or the task is cancelled.
    package func pass() async {
        guard isPaused else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    guard state.isPaused, !Task.isCancelled else { return true }
                    state.waiter = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
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
            // It was resumed after a chunk had been refused and before the transfer was known here.
            guard transfer != nil, state.transferWaits, !state.isPaused else { return false }
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
