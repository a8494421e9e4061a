/// Waits for a network and for a place, where the configuration asks for one or limits the other.
package struct ScheduleStep: Step {
    let scheduler: Scheduler

    package func concerns(_ exchange: Exchange) -> Bool {
        let configuration = exchange.context.sharedConfiguration
        return ConnectivityGate.isClosable(exchange.context)
            || configuration.value.maximumRequestsInFlight != nil
            || !configuration.value.limits.areNone
    }

    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let configuration = exchange.configuration
        try await ConnectivityGate.pass(exchange)
        // Whoever renews credentials is waited for by requests that hold all the places.
        guard RefreshGate.underRefresh.isEmpty else { return try await next(exchange) }
        var limits = configuration.limits
        if let total = configuration.maximumRequestsInFlight { limits.total = total }
        guard !limits.areNone else { return try await next(exchange) }
        if let fault = limits.fault {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "The limit \(fault); give at least 1, or nil for no limit.")
        }
        let tag = exchange.description.tag
        let lane = Schedule.Lane(
            host: exchange.request.url.host ?? "", tag: limits.perTag[tag] == nil ? nil : tag)
        let place = ScheduledPlace(in: scheduler, lane: lane, limits: limits)
        try await place.enter(exchange)
        defer { place.leave() }
        var exchange = exchange
        exchange.place = place
        return try await next(exchange)
    }
}
