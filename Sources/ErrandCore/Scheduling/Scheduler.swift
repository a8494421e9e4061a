import Synchronization

/// Hands out places to requests: the most urgent first, among equals the longest waiting.
package final class Scheduler: Sendable {
    private struct State {
        var schedule = Schedule()
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextTicket: UInt64 = 0

        /// Lets in whoever fits by now.
        mutating func admitted() -> [CheckedContinuation<Bool, Never>] {
            var admitted: [CheckedContinuation<Bool, Never>] = []
            while let ticket = schedule.admit() {
                if let waiter = waiters.removeValue(forKey: ticket) { admitted.append(waiter) }
            }
            return admitted
        }
    }

    package enum Entry: Sendable { case entered, cancelled, refused }

    private let state = Mutex(State())

    package init() {}

    package var waiting: Int { state.withLock { $0.schedule.waiting } }
    package var underWay: Int { state.withLock { $0.schedule.underWay } }

    /// A ticket; the lower goes first among equals.
    func nextTicket() -> UInt64 {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Takes a place; `nil` where the ticket has to ``wait(for:_:)``.
    ///
    /// Who entered must ``leave(_:)``.
    ///
    /// - Parameter hadPlace: Whether the ticket gave a place back to pause.
    package func arrive(
        _ ticket: UInt64, _ lane: Schedule.Lane, limits: RequestLimits,
        priority: @autoclosure () -> RequestPriority, hadPlace: Bool = false
    ) -> Entry? {
        let (entry, admitted) = state.withLock {
            state -> (Entry?, [CheckedContinuation<Bool, Never>]) in
            state.schedule.use(limits)
            let admitted = state.admitted()
            let arrival = state.schedule.arrive(
                ticket, lane: lane, priority: priority(), hadPlace: hadPlace)
            switch arrival {
            case .enters: return (.entered, admitted)
            case .refused: return (.refused, admitted)
            case .waits: return (nil, admitted)
            }
        }
        for waiter in admitted { waiter.resume(returning: true) }
        return entry
    }

    /// Waits until a ticket that has arrived enters, or the scope is cancelled.
    package func wait(for ticket: UInt64, _ scope: CancellationScope) async -> Entry {
        let entered = await scope.wait {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Bool? in
                    // Admitted between standing in line and waiting: nobody could be woken.
                    guard state.schedule.isWaiting(ticket) else { return true }
                    if scope.isCancelled {
                        _ = state.schedule.cancel(ticket)
                        return false
                    }
                    state.waiters[ticket] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = self.state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let waiter = state.waiters.removeValue(forKey: ticket) else { return nil }
                _ = state.schedule.cancel(ticket)
                return waiter
            }
            waiter?.resume(returning: false)
        }
        return entered ? .entered : .cancelled
    }

    /// Gives a place back; whoever fits takes it.
    package func leave(_ lane: Schedule.Lane) {
        let admitted = state.withLock { state in
            state.schedule.leave(lane)
            return state.admitted()
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    func setPriority(_ priority: RequestPriority, of ticket: UInt64) {
        state.withLock { $0.schedule.setPriority(priority, of: ticket) }
    }
}
