import ErrandHTTP
import Synchronization

/// Grants concurrency permits within the limits, by priority and then by arrival.
package final class ConcurrencyLimiter: Sendable {
    private struct Storage {
        var limits = ConcurrencyLimiterState()
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextTicket: UInt64 = 0

        /// Admits the tickets that fit and returns their waiters.
        mutating func admitted() -> [CheckedContinuation<Bool, Never>] {
            var admitted: [CheckedContinuation<Bool, Never>] = []
            while let ticket = limits.admit() {
                if let waiter = waiters.removeValue(forKey: ticket) { admitted.append(waiter) }
            }
            return admitted
        }
    }

    /// A ticket together with its queue.
    package struct Ticket: Sendable {
        private let limiter: ConcurrencyLimiter
        private let number: UInt64

        package init(limiter: ConcurrencyLimiter, number: UInt64) {
            self.limiter = limiter
            self.number = number
        }

        package func setPriority(_ priority: RequestPriority) {
            limiter.setPriority(priority, of: number)
        }

        /// Why the ticket waits; `nil` if it does not wait.
        package var obstacle: ConcurrencyLimiterState.Obstacle? {
            limiter.state.withLock { $0.limits.obstacle(of: number) }
        }
    }

    package enum Entry: Sendable { case entered, cancelled, refused }

    private let state = Mutex(Storage())

    package init() {}

    package var waiting: Int { state.withLock { $0.limits.waiting } }
    package var underWay: Int { state.withLock { $0.limits.underWay } }

    /// A new ticket; of equal priorities, the lowest ticket is first.
    package func nextTicket() -> UInt64 {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Takes a permit, which ``leave(_:)`` releases; `nil` if the ticket has to ``wait(for:_:)``.
    ///
    /// - Parameter hadPermit: Whether the ticket released a permit to pause; then it is never refused.
    package func arrive(
        _ ticket: UInt64, _ lane: ConcurrencyLimiterState.Lane, limits: RequestLimits,
        priority: @autoclosure () -> RequestPriority, hadPermit: Bool = false
    ) -> Entry? {
        let (entry, admitted) = state.withLock {
            state -> (Entry?, [CheckedContinuation<Bool, Never>]) in
            state.limits.use(limits)
            let admitted = state.admitted()
            let arrival = state.limits.arrive(
                ticket, lane: lane, priority: priority(), hadPermit: hadPermit)
            switch arrival {
            case .enters: return (.entered, admitted)
            case .refused: return (.refused, admitted)
            case .waits: return (nil, admitted)
            }
        }
        for waiter in admitted { waiter.resume(returning: true) }
        return entry
    }

    /// Waits until a queued ticket is admitted, or the scope is cancelled.
    package func wait(for ticket: UInt64, _ scope: CancellationScope) async -> Entry {
        let entered = await scope.wait {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Bool? in
                    // Admitted after `arrive`, before this continuation existed.
                    guard state.limits.isWaiting(ticket) else { return true }
                    if scope.isCancelled {
                        _ = state.limits.cancel(ticket)
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
                _ = state.limits.cancel(ticket)
                return waiter
            }
            waiter?.resume(returning: false)
        }
        return entered ? .entered : .cancelled
    }

    /// Releases a permit and resumes the waiters that fit.
    package func leave(_ lane: ConcurrencyLimiterState.Lane) {
        let admitted = state.withLock { state in
            state.limits.leave(lane)
            return state.admitted()
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    package func setPriority(_ priority: RequestPriority, of ticket: UInt64) {
        state.withLock { $0.limits.setPriority(priority, of: ticket) }
    }
}
