import ErrandTransport
import Synchronization

/// Waits for a network and for a concurrency permit, if the configuration requires them.
package final class ScheduleStep: OptionalStep {
    private let concurrencyLimiter: ConcurrencyLimiter

    init(concurrencyLimiter: ConcurrencyLimiter) { self.concurrencyLimiter = concurrencyLimiter }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        ConnectivityCheck.isEnabled(pipelineRequest.task)
            || !pipelineRequest.task.sharedConfiguration.value.limits.isUnlimited
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        try await ConnectivityCheck.pass(pipelineRequest)
        guard let permit = try permit(for: pipelineRequest) else {
            return try await next(pipelineRequest)
        }
        try await permit.acquire(pipelineRequest, again: false)
        do {
            let response = try await next(pipelineRequest.changed { $0.permit = permit })
            // A connection that is handed over may last for days.
            if pipelineRequest.description.upgrade == nil {
                response.whenEnded { permit.release() }
            } else {
                permit.release()
            }
            return response
        } catch {
            permit.release()
            throw error
        }
    }

    /// The permit that the request needs; `nil` if nothing limits it.
    private func permit(for pipelineRequest: PipelineRequest) throws(RequestError)
        -> ConcurrencyPermit?
    {
        // Requests that hold all permits may be waiting for credentials that this request gets.
        guard !CredentialOperation.isActive else { return nil }
        let limits = pipelineRequest.configuration.limits
        guard !limits.isUnlimited else { return nil }
        let tag = pipelineRequest.description.tag
        let lane = ConcurrencyLimiterState.Lane(
            host: pipelineRequest.request.host ?? "", tag: limits.perTag[tag] == nil ? nil : tag)
        return ConcurrencyPermit(in: concurrencyLimiter, lane: lane, limits: limits)
    }
}

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
        let startedAt = pipelineRequest.task.clock.uptime
        var entry = arrive(pipelineRequest, hadPermit)
        if entry == nil {
            entry = await concurrencyLimiter.wait(for: ticket, pipelineRequest.scope)
        }
        pipelineRequest.task.waits(for: nil)
        try entered(entry, after: startedAt, pipelineRequest.task)
    }

    private func arrive(_ pipelineRequest: PipelineRequest, _ hadPermit: Bool) -> ConcurrencyLimiter
        .Entry?
    {
        pipelineRequest.task.waits(
            for: ConcurrencyLimiter.Ticket(limiter: concurrencyLimiter, number: ticket))
        let entry = concurrencyLimiter.arrive(
            ticket, lane, limits: limits, priority: pipelineRequest.task.priority,
            hadPermit: hadPermit)
        if entry == nil { pipelineRequest.task.emit(.queued) }
        return entry
    }

    private func entered(
        _ entry: ConcurrencyLimiter.Entry?, after startedAt: Duration, _ task: RequestTask
    ) throws(RequestError) {
        switch entry {
        case .entered: isHeld.store(true, ordering: .releasing)
        case .cancelled, nil: throw .cancelled
        case .refused:
            throw RequestError(
                .queueFull, stage: .schedule,
                "The queue is full: at most \(limits.waiting ?? 0) requests wait (limits.waiting). Try again later, or "
                    + "raise the limit."
            )
        }
        task.emit(.dequeued(after: task.clock.uptime - startedAt))
    }

    /// Gives the permit back, if it is held.
    package func release() {
        if isHeld.exchange(false, ordering: .acquiringAndReleasing) {
            concurrencyLimiter.leave(lane)
        }
    }
}
