package import ErrandCore
import Synchronization

/// The task of a closure that has the place of a member: a node of a graph.
///
/// A suspended node starts no closure; a closure in progress continues, and the member that it makes is suspended.
nonisolated package final class ClosureTask: MemberTask {
    /// The result of the closure.
    package enum Output: Sendable {
        case value(any Sendable)
        case member(Transfer)
    }

    /// Carries a member from the task of its closure to the run; it can be taken once.
    package final class Transfer: Sendable {
        private let member: Mutex<AnyObject?>

        package init(_ member: consuming sending AnyObject) { self.member = Mutex(member) }

        package func take() -> sending AnyObject? {
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
    package let hub = ProgressHub()
    package var currentProgress: TransferProgress { hub.current }

    package init() {
        hub.update { $0.totalBytesToReceive = 0 }
    }

    /// Starts the closure, as soon as the node is not suspended.
    package func start(_ begin: @escaping @Sendable () -> Task<Void, Never>) {
        change { $0.waiting = begin }
    }

    package func cancel() { change { $0.isCancelled = true } }

    package func suspend() { change { $0.isPaused = true } }

    package func resume() { change { $0.isPaused = false } }

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
