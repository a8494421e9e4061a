/// Deals with a request that is under way already, by the endpoint's duplicate policy (row CAN-7).
///
/// Requests whose policy is `.allow` take no part: they are neither counted nor joined.
package struct JoinStep: Step {
    let flights: FlightTable

    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let policy = exchange.description.duplicatePolicy
        guard policy != .allow, let key = cacheKey(for: exchange) else {
            return try await next(exchange)
        }
        let new = Flight()
        switch policy {
        case .allow: break
        case .cancelPrevious: flights.replace(key, with: new)?.cancel()
        case .reject:
            guard flights.flight(for: key, orAdd: new).isNew else { throw duplicate(exchange) }
        case .join:
            let (flight, isNew) = flights.flight(for: key, orAdd: new)
            if !isNew { return try await follow(flight, exchange) }
        }
        return try await lead(new, key: key, exchange: exchange, next: next)
    }

    private func lead(
        _ flight: Flight, key: CacheKey, exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        flight.depart(
            Task {
                let result: Flight.Landing
                do throws(RequestError) {
                    result = .success(try await next(exchange))
                } catch {
                    result = .failure(error)
                }
                // Out of the table first: whoever comes now starts anew and never finds an ended flight.
                flights.remove(key, flight)
                flight.land(result)
            })
        defer { flight.leave() }
        return try await flight.wait().get()
    }

    private func follow(_ flight: Flight, _ exchange: Exchange) async throws(RequestError)
        -> Response
    {
        exchange.context.emit(.joined)
        defer { flight.leave() }
        let response = try await flight.wait().get()
        // The leader's validator is not necessarily this endpoint's.
        try ResponseValidation.check(response, description: exchange.description)
        return response
    }

    private func duplicate(_ exchange: Exchange) -> RequestError {
        RequestError(
            .duplicate, stage: .schedule,
            "The same \(exchange.description.endpoint) is under way; its duplicatePolicy is .reject. Wait for it, or use .join."
        )
    }
}
