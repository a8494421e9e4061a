import Synchronization

/// Holds a task's first wake-up back for as long as the task runs on the thread that starts it, maybe the main actor's.
///
/// A Swift task that is woken before it has quite fallen asleep goes on where it is. What is done with answers would then be
/// done on the caller's thread, and takes as long as it likes.
final class StartGate: Sendable {
    private struct State {
        var isBeingStarted = false
        var held: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let isBeingStarted = Atomic<Bool>(false)

    /// Runs what starts the task and returns when the task has fallen asleep, or ended.
    func start(_ body: () -> Void) {
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

    /// Wakes the task, once it sleeps.
    func wake(_ sleeper: UnsafeContinuation<Void, Never>) {
        // Almost always it does, and this is all that there is to it.
        guard isBeingStarted.load(ordering: .acquiring) else { return sleeper.resume() }
        let isHeld = state.withLock { state in
            if state.isBeingStarted { state.held = sleeper }
            return state.isBeingStarted
        }
        if !isHeld { sleeper.resume() }
    }
}
