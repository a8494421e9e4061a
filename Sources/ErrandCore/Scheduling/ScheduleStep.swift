/// Waits for a place where the configuration limits how many requests are under way.
package struct ScheduleStep: Step {
    let scheduler: Scheduler

    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        guard let limit = exchange.configuration.maximumRequestsInFlight else {
            return try await next(exchange)
        }
        guard limit > 0 else {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "maximumRequestsInFlight is \(limit); give at least 1, or nil for no limit.")
        }
        let entered = await scheduler.enter(
            limit: limit, priority: exchange.description.priority,
            willWait: { exchange.context.emit(.queued) })
        guard entered else { throw .cancelled }
        defer { scheduler.leave() }
        return try await next(exchange)
    }
}
