/// Deals with a request that is under way already, by the endpoint's duplicate policy (row CAN-7).
///
/// Requests whose policy is `.allow` take no part: they are neither counted nor joined.
package struct JoinStep: Step {
    let flights: FlightTable
    let line = FlightLine()

    package func concerns(_ exchange: Exchange) -> Bool {
        exchange.context.description.duplicatePolicy != .allow
    }

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        let policy = exchange.description.duplicatePolicy
        guard policy != .allow, let key = FlightKey(exchange) else {
            return try await next(exchange)
        }
        let new = Flight(leader: exchange.context)
        switch policy {
        case .allow: break
        case .cancelPrevious: flights.replace(key, with: new)?.cancel()
        case .queue:
            return try await inTurn(key, new, exchange, next)
        case .reject:
            guard flights.add(key, new) else {
                new.leave(Flight.leaderSeat)
                throw duplicate(exchange)
            }
        case .join:
            if let (flight, seat) = flights.board(key, as: exchange.context, orAdd: new) {
                return try await follow(flight, in: seat, exchange)
            }
        }
        return try await lead(new, key: key, exchange: exchange, next: next)
    }

    private func lead(
        _ flight: Flight, key: FlightKey, exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        // The transfer has a life of its own: it goes on when its leader is cancelled or suspended.
        var own = exchange
        own.context = TaskContext(flight: flight, of: exchange.context)
        own.scope = own.context.scope
        let work = Task { [own] in
            let result: Flight.Landing
            do throws(RequestError) {
                result = .success(try await next(own))
            } catch {
                result = .failure(error)
            }
            // Out of the table first: whoever comes now starts anew and never finds an ended flight.
            flights.remove(key, flight)
            flight.land(result)
        }
        flight.depart(Flight.Transfer(work: work, scope: own.scope))
        return try await ride(flight, in: Flight.leaderSeat, exchange.scope)
    }

    /// Sent when whoever came earlier with the same key has ended, whatever came of it.
    private func inTurn(
        _ key: FlightKey, _ new: Flight, _ exchange: Exchange, _ next: Next
    ) async throws(RequestError) -> Response {
        let clock = exchange.context.clock
        let began = clock.uptime
        var waited = false
        let ticket = TaskID.ticket(of: exchange.context.id)
        let isTurn = await line.enter(key, ticket: ticket, exchange.scope) {
            waited = true
            exchange.context.emit(.queued)
        }
        guard isTurn else {
            new.leave(Flight.leaderSeat)
            throw .cancelled
        }
        defer { line.leave(key) }
        try exchange.scope.check()
        // One of another policy, or one that its leader has left and others have not.
        while !flights.add(key, new) {
            if !waited { exchange.context.emit(.queued) }
            waited = true
            await flights.flight(of: key)?.watch(exchange.scope)
            guard exchange.scope.isCancelled else { continue }
            new.leave(Flight.leaderSeat)
            throw .cancelled
        }
        if waited { exchange.context.emit(.dequeued(after: clock.uptime - began)) }
        return try await lead(new, key: key, exchange: exchange, next: next)
    }

    private func follow(
        _ flight: Flight, in seat: Int, _ exchange: Exchange
    ) async throws(RequestError) -> Response {
        exchange.context.emit(.joined)
        let response: Response
        do throws(RequestError) {
            response = try await ride(flight, in: seat, exchange.scope)
        } catch {
            // What the leader's validator refused may be what this endpoint asked for.
            guard error.stage == .validate, let refused = error.response else { throw error }
            response = refused
        }
        // The leader's validator is not necessarily this endpoint's.
        try ResponseValidation.check(response, description: exchange.description)
        return response
    }

    /// Waits for the landing, then leaves; the last one who leaves early waits until the transfer has let go of
    /// everything, so that nothing is written behind an end that was told.
    private func ride(
        _ flight: Flight, in seat: Int, _ scope: CancellationScope
    ) async throws(RequestError) -> Response {
        let landing = await flight.wait(in: seat, scope)
        await flight.leave(seat)?.value
        return try landing.get()
    }

    private func duplicate(_ exchange: Exchange) -> RequestError {
        RequestError(
            .duplicate, stage: .schedule,
            "The same \(exchange.description.endpoint) is under way; its duplicatePolicy is .reject. Wait for it, or use .join."
        )
    }
}
