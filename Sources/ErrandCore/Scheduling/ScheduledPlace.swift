import Synchronization

/// A request's place among those under way.
///
/// Given back while the request pauses, before a further attempt or for its host's rate limit: nobody waits for
/// somebody who sleeps. The ticket stays, so that whoever comes back stands before those who came later.
package final class ScheduledPlace: Sendable {
    private let scheduler: Scheduler
    private let lane: Schedule.Lane
    private let limits: RequestLimits
    private let ticket: UInt64
    private let isHeld = Atomic(false)

    init(in scheduler: Scheduler, lane: Schedule.Lane, limits: RequestLimits) {
        self.scheduler = scheduler
        self.lane = lane
        self.limits = limits
        ticket = scheduler.nextTicket()
    }

    /// Takes the place, or waits for it.
    func enter(_ exchange: Exchange, hadPlace: Bool = false) async throws(RequestError) {
        let began = exchange.context.clock.uptime
        var entry = arrive(exchange, hadPlace)
        if entry == nil { entry = await scheduler.wait(for: ticket, exchange.scope) }
        exchange.context.stands(in: nil, as: nil)
        try entered(entry, after: began, exchange.context)
    }

    // Apart from `enter`, which may be suspended for long, by many.
    @inline(never)
    private func arrive(_ exchange: Exchange, _ hadPlace: Bool) -> Scheduler.Entry? {
        exchange.context.stands(in: scheduler, as: ticket)
        let entry = scheduler.arrive(
            ticket, lane, limits: limits, priority: exchange.context.priority, hadPlace: hadPlace)
        if entry == nil { exchange.context.emit(.queued) }
        return entry
    }

    @inline(never)
    private func entered(
        _ entry: Scheduler.Entry?, after began: Duration, _ context: TaskContext
    ) throws(RequestError) {
        switch entry {
        case .entered: isHeld.store(true, ordering: .releasing)
        case .cancelled, nil: throw .cancelled
        case .refused:
            throw RequestError(
                .queueFull, stage: .schedule,
                "\(limits.waiting ?? 0) requests wait already. Start it later, or raise limits.waiting."
            )
        }
        context.emit(.dequeued(after: context.clock.uptime - began))
    }

    /// Gives the place back, if it is held.
    func leave() {
        if isHeld.exchange(false, ordering: .acquiringAndReleasing) { scheduler.leave(lane) }
    }
}

extension Exchange {
    /// Waits, without holding a place meanwhile where the wait is long.
    ///
    /// - Throws: What `wait` throws, or ``RequestError/Code/cancelled`` while waiting for a new place.
    func pausing(
        _ isLong: Bool, _ wait: () async throws(RequestError) -> Void
    ) async throws(RequestError) {
        if isLong { context.enter(.waiting) }
        guard isLong, let place else { return try await wait() }
        place.leave()
        try await wait()
        try await place.enter(self, hadPlace: true)
    }
}
