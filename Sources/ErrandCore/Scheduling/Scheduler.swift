import Synchronization

/// Hands out places to requests: the most urgent first, among equals the longest waiting.
package final class Scheduler: Sendable {
    private struct State {
        var inFlight = 0
        var line = WaitingLine()
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextTicket: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes a place, or waits for one; false when the task was cancelled meanwhile.
    package func enter(limit: Int, priority: RequestPriority, willWait: () -> Void) async -> Bool {
        enum Entry { case entered, waits(UInt64) }
        let entry = state.withLock { state -> Entry in
            guard state.inFlight >= limit || !state.line.isEmpty else {
                state.inFlight += 1
                return .entered
            }
            state.nextTicket += 1
            return .waits(state.nextTicket)
        }
        guard case .waits(let ticket) = entry else { return true }
        willWait()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    // A place may have become free since we looked.
                    if state.inFlight < limit, state.line.isEmpty {
                        state.inFlight += 1
                        return true
                    }
                    state.waiters[ticket] = continuation
                    state.line.insert(ticket, priority: priority)
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let waiter = state.waiters.removeValue(forKey: ticket) else { return nil }
                state.line.remove(ticket)
                return waiter
            }
            waiter?.resume(returning: false)
        }
    }

    /// Gives a place back; the next in line takes it.
    package func leave() {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            while let ticket = state.line.popFirst() {
                if let waiter = state.waiters.removeValue(forKey: ticket) { return waiter }
            }
            state.inFlight -= 1
            return nil
        }
        waiter?.resume(returning: true)
    }
}
