import Synchronization

/// A member's end on its way to the actor that the batch belongs to.
nonisolated struct MemberEnd: Sendable {
    var index: Int
    var task: RequestTask
    var outcome: TaskOutcome
}

/// The ends of a batch's members, in the order in which they come.
///
/// No `AsyncStream`: that one ends when the waiting Swift task is cancelled, and the ends of the members that
/// are being cancelled would be lost.
nonisolated final class MemberEnds: Sendable {
    private struct State {
        var ends: [MemberEnd] = []
        var waiter: CheckedContinuation<MemberEnd, Never>?
    }

    private let state = Mutex(State())

    func add(_ end: MemberEnd) {
        let waiter = state.withLock { state -> CheckedContinuation<MemberEnd, Never>? in
            guard let waiter = state.waiter else {
                state.ends.append(end)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: end)
    }

    /// The next end; waits for it, whatever happens to the waiting task.
    ///
    /// For one caller at a time.
    nonisolated(nonsending) func next() async -> MemberEnd {
        await withCheckedContinuation { continuation in
            let end = state.withLock { state -> MemberEnd? in
                guard state.ends.isEmpty else { return state.ends.removeFirst() }
                state.waiter = continuation
                return nil
            }
            if let end { continuation.resume(returning: end) }
        }
    }
}
