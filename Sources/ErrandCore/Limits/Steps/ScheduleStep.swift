import ErrandTransport

/// Waits for a network and for a concurrency permit, if the configuration requires them.
package final class ScheduleStep: Step {
    private let concurrencyLimiter: ConcurrencyLimiter

    init(concurrencyLimiter: ConcurrencyLimiter) { self.concurrencyLimiter = concurrencyLimiter }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        ConnectivityCheck.isEnabled(pipelineRequest.context)
            || !pipelineRequest.context.sharedConfiguration.value.limits.isUnlimited
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
