/// Waits for a network and for a place, where the configuration asks for one or limits the other.
package struct ScheduleStep: Step {
    let scheduler: Scheduler

    package func concerns(_ exchange: Exchange) -> Bool {
        let configuration = exchange.context.sharedConfiguration
        return ConnectivityGate.isClosable(exchange.context)
            || configuration.value.maximumRequestsInFlight != nil
            || !configuration.value.limits.areNone
    }

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        if ConnectivityGate.isClosable(exchange.context) {
            try await ConnectivityGate.pass(exchange)
        }
        guard let place = try place(for: exchange) else { return try await next(exchange) }
        try await place.enter(exchange)
        defer { place.leave() }
        return try await next(exchange.changed { $0.place = place })
    }

    /// Where the request stands in line; `nil` where nothing is limited for it.
    @inline(never)
    private func place(for exchange: Exchange) throws(RequestError) -> ScheduledPlace? {
        // Whoever renews credentials is waited for by requests that hold all the places.
        guard RefreshGate.underRefresh.isEmpty else { return nil }
        var limits = exchange.configuration.limits
        if let total = exchange.configuration.maximumRequestsInFlight { limits.total = total }
        guard !limits.areNone else { return nil }
        if let fault = limits.fault {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "The limit \(fault); give at least 1, or nil for no limit.")
        }
        let tag = exchange.description.tag
        let lane = Schedule.Lane(
            host: exchange.request.host ?? "", tag: limits.perTag[tag] == nil ? nil : tag)
        return ScheduledPlace(in: scheduler, lane: lane, limits: limits)
    }
}
