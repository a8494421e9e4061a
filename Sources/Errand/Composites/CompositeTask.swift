public import Foundation
import Synchronization

/// One run of a batch or a chain: may be kept, sent about and cancelled from anywhere.
nonisolated public final class CompositeTask: Sendable, Identifiable {
    /// Identifies the run.
    public let id = UUID()

    private struct State {
        var members: [UUID: RequestTask] = [:]
        var isCancelled = false
        var isPaused = false
        var finished = 0
        var total = 0
    }

    private let state = Mutex(State())

    init(total: Int = 0) { state.withLock { $0.total = total } }

    /// Cancels the members under way and starts no more; the whole ends with ``RequestError/Code/cancelled``.
    public func cancel() {
        let members = state.withLock { state in
            state.isCancelled = true
            return Array(state.members.values)
        }
        for member in members { member.cancel() }
    }

    /// Suspends the members under way, and those that follow when they start.
    public func suspend() {
        let members = state.withLock { state in
            state.isPaused = true
            return Array(state.members.values)
        }
        for member in members { member.suspend() }
    }

    /// Lets suspended members go on.
    public func resume() {
        let members = state.withLock { state in
            state.isPaused = false
            return Array(state.members.values)
        }
        for member in members { member.resume() }
    }

    /// How many members have ended, and how many there are as far as is known.
    public var progress: (finished: Int, total: Int) {
        state.withLock { ($0.finished, $0.total) }
    }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func enter(_ member: RequestTask) {
        let (isCancelled, isPaused) = state.withLock { state in
            state.members[member.id] = member
            return (state.isCancelled, state.isPaused)
        }
        if isPaused { member.suspend() }
        if isCancelled { member.cancel() }
    }

    func leave(_ member: RequestTask) {
        state.withLock { state in
            state.members[member.id] = nil
            state.finished += 1
        }
    }

    func cancelMembers() {
        for member in state.withLock({ Array($0.members.values) }) { member.cancel() }
    }

    func expect(total: Int) { state.withLock { $0.total = total } }
}
