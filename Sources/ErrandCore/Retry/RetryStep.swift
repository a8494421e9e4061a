import Foundation
import HTTPTypes

/// Sends again what failed for a reason that may pass.
package struct RetryStep: Step {
    let guards: HostGuards

    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let policy =
            if let own = exchange.description.retryPolicy { own } else {
                exchange.configuration.retryPolicy
            }
        let context = exchange.context
        let host = exchange.request.url.host ?? ""
        var exchange = exchange
        if policy.sendsIdempotencyKey, !exchange.request.method.isIdempotent,
            let name = HTTPField.Name.idempotencyKey, exchange.request.headers[name] == nil
        {
            exchange.request.headers[name] = UUID().uuidString
        }
        if let budget = exchange.configuration.retryBudget { guards.deposit(budget, host: host) }
        while true {
            exchange.attempt += 1
            let attempt = exchange.attempt
            if attempt > 1 { try await process(&exchange) }
            try askCircuit(of: host, exchange)
            context.emit(.attemptStarted(attempt))
            do {
                var response = try await carryOut(
                    exchange, limit: policy.attemptTimeout, next: next)
                // The transport step has counted; a stand-in for it may not.
                if response.attempts != attempt { response.attempts = attempt }
                tellCircuit(of: host, exchange, nil)
                ended(attempt, response.timings.last, nil, context)
                return response
            } catch {
                var error = error
                error.attempts = attempt
                error.response?.attempts = attempt
                tellCircuit(of: host, exchange, error)
                ended(attempt, error.response?.timings.last, error, context)
                guard case .again(let delay) = decide(error, policy: policy, exchange) else {
                    throw error
                }
                if let budget = exchange.configuration.retryBudget,
                    !guards.withdraw(budget, host: host)
                {
                    context.emit(.retryBudgetSpent)
                    throw error
                }
                context.emit(.retrying(after: delay, error))
                try await exchange.sleep(for: delay)
            }
        }
    }

    /// Signatures with their time stamps are made anew for each attempt; the idempotency key stays.
    private func process(_ exchange: inout Exchange) async throws(RequestError) {
        guard let serialized = exchange.serialized?.value else { return }
        var request = serialized
        if let name = HTTPField.Name.idempotencyKey, request.headers[name] == nil,
            let key = exchange.request.headers[name]
        {
            request.headers[name] = key
        }
        exchange.request = try await RequestProcessing.process(
            request, attempt: exchange.attempt, of: exchange)
    }

    private func decide(
        _ error: RequestError, policy: RetryPolicy, _ exchange: Exchange
    ) -> RetryDecision {
        if let decider = exchange.configuration.retryDecider, !error.isCancellation {
            let failed = FailedAttempt(
                description: exchange.description, request: exchange.request, error: error,
                attempt: exchange.attempt)
            switch decider(failed) {
            case .asPolicy: break
            case .giveUp: return .giveUp
            case .again(let delay):
                return exchange.attempt < policy.maximumAttempts ? .again(after: delay) : .giveUp
            }
        }
        guard policy.maximumAttempts > 1 else { return .giveUp }
        return RetryDecision.decide(
            policy: policy, request: exchange.request, error: error, attempt: exchange.attempt,
            now: exchange.context.clock.now, random: Double.random(in: 0..<1))
    }

    /// One attempt, within its own limit where it has one.
    private func carryOut(
        _ exchange: Exchange, limit: Duration?, next: Next
    ) async throws(RequestError) -> Response {
        guard let limit else { return try await next(exchange) }
        let clock = exchange.context.clock
        let result = await exchange.scope.withChild { scope in
            let timer = Task {
                guard (try? await clock.sleep(for: limit)) != nil else { return }
                scope.cancel(.tooLate)
            }
            defer { timer.cancel() }
            var limited = exchange
            limited.scope = scope
            do throws(RequestError) {
                return Result<Response, RequestError>.success(try await next(limited))
            } catch {
                return .failure(
                    error.isCancellation && scope.reason == .tooLate
                        ? Self.tookTooLong(limit) : error)
            }
        }
        return try result.get()
    }

    private static func tookTooLong(_ limit: Duration) -> RequestError {
        RequestError(
            .timedOut, stage: .transport,
            "The attempt took longer than \(limit). Raise retryPolicy.attemptTimeout if that is right.",
            timeout: .attempt)
    }

    private func ended(
        _ attempt: Int, _ timings: AttemptTimings?, _ error: RequestError?, _ context: TaskContext
    ) {
        guard !context.configuration.eventListeners.isEmpty else { return }
        let timings = timings ?? AttemptTimings()
        for (phase, time) in [
            (RequestEvent.Phase.nameLookedUp, timings.nameLookedUp),
            (.connected, timings.connected),
            (.secured, timings.secured), (.firstByte, timings.firstByte),
        ] {
            if let time { context.emit(.phase(attempt: attempt, phase, after: time)) }
        }
        context.emit(.attemptEnded(attempt, timings, error))
    }

    private func askCircuit(of host: String, _ exchange: Exchange) throws(RequestError) {
        guard let policy = exchange.configuration.circuitBreaker else { return }
        let verdict = guards.request(policy, host: host, now: exchange.context.clock.uptime)
        guard case .refuse(let pause) = verdict else { return }
        throw RequestError(
            .circuitOpen, stage: .schedule,
            "\(host) failed too often; nothing is sent for another \(pause). See configuration.circuitBreaker.",
            attempts: exchange.attempt - 1)
    }

    private func tellCircuit(of host: String, _ exchange: Exchange, _ error: RequestError?) {
        guard let policy = exchange.configuration.circuitBreaker else { return }
        let outcome: CircuitBreaker.Outcome
        if let error {
            let isFault =
                (error.stage == .transport && !error.isCancellation)
                || (error.response.map { $0.status.code >= 500 } ?? false)
            outcome = isFault ? .failure : error.response == nil ? .none : .success
        } else {
            outcome = .success
        }
        guards.ended(outcome, policy, host: host, now: exchange.context.clock.uptime)
    }
}
