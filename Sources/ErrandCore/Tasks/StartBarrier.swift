import Synchronization

/// Delays the first resumption of a task until the task is suspended.
///
/// A Swift task that is resumed before it is fully suspended continues on the thread that started
/// it. Response processing of unknown duration would then run on the caller's thread, perhaps the
/// main thread. Not a class, because its owner is one.
package struct StartBarrier: ~Copyable, Sendable {
    // Not private, for which Swift 6.3.1 emits an invalid module in a structure without copies.
    struct State {
        var isBeingStarted = false
        var held: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let isBeingStarted = Atomic<Bool>(false)

    package init() {}

    /// Runs the body, which starts the task; returns when the task is suspended or has ended.
    package func start(_ body: () -> Void) {
        state.withLock { $0.isBeingStarted = true }
        isBeingStarted.store(true, ordering: .releasing)
        body()
        isBeingStarted.store(false, ordering: .releasing)
        let held = state.withLock { state in
            state.isBeingStarted = false
            return state.held.take()
        }
        held?.resume()
    }

    /// Resumes the task as soon as it is suspended.
    package func wake(_ continuation: UnsafeContinuation<Void, Never>) {
        // The usual case: the task is suspended, and one atomic load suffices.
        guard isBeingStarted.load(ordering: .acquiring) else { return continuation.resume() }
        let isHeld = state.withLock { state in
            if state.isBeingStarted { state.held = continuation }
            return state.isBeingStarted
        }
        if !isHeld { continuation.resume() }
    }
}
