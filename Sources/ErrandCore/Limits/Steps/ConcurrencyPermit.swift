import Synchronization

/// The right of a request to run within the limits.
///
/// A request releases it while it waits for something else, such as the next attempt or a rate limit. The ticket stays
/// the same, so that the request keeps its position in the queue.
package final class ConcurrencyPermit: Permit {
    private let concurrencyLimiter: ConcurrencyLimiter
    private let lane: ConcurrencyLimiterState.Lane
    private let limits: RequestLimits
    private let ticket: UInt64
    private let isHeld = Atomic(false)

    package init(
        in concurrencyLimiter: ConcurrencyLimiter, lane: ConcurrencyLimiterState.Lane,
        limits: RequestLimits
    ) {
        self.concurrencyLimiter = concurrencyLimiter
        self.lane = lane
        self.limits = limits
        ticket = concurrencyLimiter.nextTicket()
    }

    /// Takes the permit, or waits for it.
    package func acquire(_ pipelineRequest: PipelineRequest, again hadPermit: Bool)
        async throws(RequestError)
    {
        let startedAt = pipelineRequest.context.clock.uptime
        var entry = arrive(pipelineRequest, hadPermit)
        if entry == nil {
            entry = await concurrencyLimiter.wait(for: ticket, pipelineRequest.scope)
        }
        pipelineRequest.context.waits(for: nil)
        try entered(entry, after: startedAt, pipelineRequest.context)
    }

    private func arrive(_ pipelineRequest: PipelineRequest, _ hadPermit: Bool) -> ConcurrencyLimiter
        .Entry?
    {
        pipelineRequest.context.waits(
            for: ConcurrencyLimiter.Ticket(limiter: concurrencyLimiter, number: ticket))
        let entry = concurrencyLimiter.arrive(
            ticket, lane, limits: limits, priority: pipelineRequest.context.priority,
            hadPermit: hadPermit)
        if entry == nil { pipelineRequest.context.emit(.queued) }
        return entry
    }

    private func entered(
        _ entry: ConcurrencyLimiter.Entry?, after startedAt: Duration, _ context: TaskContext
    ) throws(RequestError) {
        switch entry {
        case .entered: isHeld.store(true, ordering: .releasing)
        case .cancelled, nil: throw .cancelled
        case .refused:
            throw RequestError(
                .queueFull, stage: .schedule,
                "The queue is full: \(limits.waiting ?? 0) requests wait. Try again later, or raise limits.waiting."
            )
        }
        context.emit(.dequeued(after: context.clock.uptime - startedAt))
    }

    /// Gives the permit back, if it is held.
    package func release() {
        if isHeld.exchange(false, ordering: .acquiringAndReleasing) {
            concurrencyLimiter.leave(lane)
        }
    }
}
