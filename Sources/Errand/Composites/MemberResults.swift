import Synchronization

/// The end of a batch's member.
nonisolated struct MemberResult: Sendable {
    var index: Int
    var run: RequestRun
    var outcome: TaskOutcome
}

/// A queue of the ends of a batch's members, in the order of time.
///
/// It replaces an `AsyncStream`, which ends when the waiting Swift task is cancelled: the ends of
/// the cancelled members would be lost.
nonisolated final class MemberResults: Sendable {
    private struct State {
        var ends: [MemberResult] = []
        var waiter: CheckedContinuation<MemberResult, Never>?
    }

    private let state = Mutex(State())

    func add(_ end: MemberResult) {
        let waiter = state.withLock { state -> CheckedContinuation<MemberResult, Never>? in
            guard let waiter = state.waiter else {
                state.ends.append(end)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: end)
    }

    /// Waits for the next end, also if the calling task is cancelled.
    ///
    /// Only one caller may wait at a time.
    nonisolated(nonsending) func next() async -> MemberResult {
        await withCheckedContinuation { continuation in
            let end = state.withLock { state -> MemberResult? in
                guard state.ends.isEmpty else { return state.ends.removeFirst() }
                state.waiter = continuation
                return nil
            }
            if let end { continuation.resume(returning: end) }
        }
    }
}
