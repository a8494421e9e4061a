import ErrandCore
import Synchronization

/// The end of a member, before its hooks are called.
nonisolated package struct MemberOutcome: Sendable {
    /// The outcome of a request, the error of a nested composite, or the result of a closure of a graph's node.
    package enum Kind: Sendable {
        case request(TaskOutcome)
        case composite(RequestError?)
        case closure(Result<ClosureTask.Output, RequestError>)
    }

    /// The index of the member.
    package var index: Int
    package var kind: Kind
}

/// The ends of the members of one run, in the order of time.
///
/// Members add their ends on any thread; the run takes them. It replaces an `AsyncStream`, which
/// ends when the waiting Swift task is cancelled: the ends of the cancelled members would be lost.
nonisolated final class MemberEnds: Sendable {
    private struct State {
        var ends: [MemberOutcome] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func add(_ end: MemberOutcome) {
        let waiter = state.withLock { state in
            state.ends.append(end)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits for at least one end and takes all, also if the calling Swift task is cancelled.
    ///
    /// Only one caller may wait at a time.
    nonisolated(nonsending) func takeAll() async -> [MemberOutcome] {
        let ends = take()
        guard ends.isEmpty else { return ends }
        await withCheckedContinuation { continuation in
            let hasEnds = state.withLock { state in
                if state.ends.isEmpty { state.waiter = continuation }
                return !state.ends.isEmpty
            }
            if hasEnds { continuation.resume() }
        }
        return take()
    }

    private func take() -> [MemberOutcome] {
        state.withLock { exchange(&$0.ends, with: []) }
    }
}
