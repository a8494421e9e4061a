import ErrandCore
import Synchronization

/// The task of a closure of a graph's node.
///
/// A suspended node starts no closure; a closure in progress continues, and the member that it makes is suspended.
nonisolated final class GraphNodeTask: Sendable {
    /// The result of the closure.
    enum Output: Sendable {
        case value(any Sendable)
        case member(Transfer)
    }

    /// Carries a member from the task of its closure to the run; it can be taken once.
    final class Transfer: Sendable {
        private let member: Mutex<AnyObject?>

        init(_ member: consuming sending AnyObject) { self.member = Mutex(member) }

        func take() -> sending AnyObject? {
            member.withLock { member in
                let taken = member
                member = nil
                return taken
            }
        }
    }

    private struct State {
        var isCancelled = false
        var isPaused = false
        /// The closure, until it is started.
        var waiting: (@Sendable () -> Task<Void, Never>)?
        var closure: Task<Void, Never>?
    }

    private let state = Mutex(State())
    /// The progress of a node that transfers nothing.
    let hub = ProgressHub()

    init() {
        hub.update { $0.totalBytesToReceive = 0 }
    }

    /// Starts the closure, as soon as the node is not suspended.
    func start(_ begin: @escaping @Sendable () -> Task<Void, Never>) {
        change { $0.waiting = begin }
    }

    func cancel() { change { $0.isCancelled = true } }

    func suspend() { change { $0.isPaused = true } }

    func resume() { change { $0.isPaused = false } }

    private func change(_ change: (inout State) -> Void) {
        // The closure is started under the lock, so that a cancellation finds either no task or the running one.
        let cancelled = state.withLock { state -> Task<Void, Never>? in
            change(&state)
            if !state.isPaused || state.isCancelled, let begin = state.waiting.take() {
                state.closure = begin()
            }
            return state.isCancelled ? state.closure : nil
        }
        cancelled?.cancel()
    }
}
