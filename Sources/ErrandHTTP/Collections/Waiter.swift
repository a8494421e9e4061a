import Synchronization

/// One wait for a condition, which also ends when the waiting Swift task is cancelled.
///
/// The owner of the condition keeps the waiter, under its lock, and calls ``resume()`` when the condition holds.
package final class Waiter: Sendable {
    private struct State {
        var isOver = false
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    private init() {}

    /// Ends the wait; later calls have no effect.
    package func resume() {
        let continuation = state.withLock { state in
            state.isOver = true
            return state.continuation.take()
        }
        continuation?.resume()
    }

    /// Waits until ``resume()`` is called or the calling Swift task is cancelled.
    ///
    /// - Parameters:
    ///   - register: Keeps the waiter, unless the condition holds already; returns whether it was kept.
    ///   - leave: Forgets the waiter after a cancellation.
    /// - Returns: Whether the condition holds; `false` after a cancellation.
    @discardableResult
    package static func wait(
        register: (Waiter) -> Bool, leave: (Waiter) -> Void
    ) async -> Bool {
        let waiter = Waiter()
        guard register(waiter) else { return true }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = waiter.state.withLock { state in
                    if !state.isOver { state.continuation = continuation }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            waiter.resume()
        }
        guard Task.isCancelled else { return true }
        leave(waiter)
        return false
    }
}
