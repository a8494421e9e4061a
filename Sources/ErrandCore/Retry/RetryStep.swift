import Foundation
import HTTPTypes

/// Sends again what failed for a reason that may pass.
package struct RetryStep: Step {
    let guards: HostGuards

    // What is not waited for stands in functions of its own, and these apart from `run`: it is suspended for as long
    // as the attempts last, and keeps room for whatever it names.
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let policy = Self.policy(of: exchange)
        let host = exchange.request.url.host ?? ""
        var exchange = prepared(exchange, policy, host)
        while true {
            exchange.attempt += 1
            if exchange.attempt > 1, exchange.serialized != nil {
                exchange.request = try await processed(exchange)
            }
            try begin(exchange, host)
            let failure: RequestError
            do {
                let response = try await carryOut(
                    exchange, limit: policy.attemptTimeout, next: next)
                return succeeded(response, exchange, host)
            } catch {
                failure = failed(error, exchange, host)
            }
            let delay = try pause(after: failure, policy, exchange, host)
            try await wait(delay, after: failure, exchange)
        }
    }

    @inline(never)
    private static func policy(of exchange: Exchange) -> RetryPolicy {
        if let own = exchange.description.retryPolicy { return own }
        return exchange.configuration.retryPolicy
    }

    @inline(never)
    private func prepared(_ exchange: Exchange, _ policy: RetryPolicy, _ host: String) -> Exchange {
        var exchange = exchange
        if policy.sendsIdempotencyKey, !exchange.request.method.isIdempotent,
            let name = HTTPField.Name.idempotencyKey, exchange.request.headers[name] == nil
        {
            exchange.request.headers[name] = UUID().uuidString
        }
        if let budget = exchange.configuration.retryBudget { guards.deposit(budget, host: host) }
        return exchange
    }

    @inline(never)
    private func begin(_ exchange: Exchange, _ host: String) throws(RequestError) {
        try askCircuit(of: host, exchange)
        exchange.context.emit(.attemptStarted(exchange.attempt))
    }

    @inline(never)
    private func succeeded(_ response: Response, _ exchange: Exchange, _ host: String) -> Response {
        var response = response
        // The transport step has counted; a stand-in for it may not.
        if response.attempts != exchange.attempt { response.attempts = exchange.attempt }
        tellCircuit(of: host, exchange, nil)
        ended(exchange.attempt, response.timings.last, nil, exchange.context)
        return response
    }

    @inline(never)
    private func failed(
        _ error: RequestError, _ exchange: Exchange, _ host: String
    ) -> RequestError {
        var error = error
        error.attempts = exchange.attempt
        error.response?.attempts = exchange.attempt
        tellCircuit(of: host, exchange, error)
        let timings = error.timings ?? error.response?.timings.last
        ended(exchange.attempt, timings, error, exchange.context)
        return error
    }

    /// The pause before a further attempt; throws the error where there is none.
    @inline(never)
    private func pause(
        after error: RequestError, _ policy: RetryPolicy, _ exchange: Exchange, _ host: String
    ) throws(RequestError) -> Duration {
        let delay: Duration
        switch decide(error, policy: policy, exchange) {
        case .again(let pause): delay = pause
        case .giveUp(let reason):
            if policy.maximumAttempts > 1, !error.isCancellation {
                exchange.context.emit(.retryDeclined(reason))
            }
            throw error
        }
        if let budget = exchange.configuration.retryBudget, !guards.withdraw(budget, host: host) {
            exchange.context.emit(.retryBudgetSpent)
            throw error
        }
        exchange.context.emit(.retrying(after: delay, error))
        return delay
    }

    /// Signatures with their time stamps are made anew for each attempt; the idempotency key stays.
    private func processed(_ exchange: Exchange) async throws(RequestError) -> TransportRequest {
        var request = exchange.serialized?.value ?? exchange.request
        if let name = HTTPField.Name.idempotencyKey, request.headers[name] == nil,
            let key = exchange.request.headers[name]
        {
            request.headers[name] = key
        }
        return try await RequestProcessing.process(
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
            case .giveUp: return .giveUp(.decider)
            case .again(let delay):
                guard exchange.attempt < policy.maximumAttempts else {
                    return .giveUp(.attemptsSpent)
                }
                return .again(after: delay)
            }
        }
        guard policy.maximumAttempts > 1 else { return .giveUp(.attemptsSpent) }
        return RetryDecision.decide(
            policy: policy, request: exchange.request, error: error, attempt: exchange.attempt,
            now: exchange.context.clock.now, random: Double.random(in: 0..<1))
    }

    /// Waits for the next attempt, and for a network where there is none by now.
    private func wait(
        _ delay: Duration, after failure: RequestError, _ exchange: Exchange
    ) async throws(RequestError) {
        let isLong = delay > .zero || ConnectivityGate.isClosable(exchange.context)
        do {
            try await exchange.pausing(isLong) { () throws(RequestError) in
                try await exchange.sleep(for: delay)
                try await ConnectivityGate.pass(exchange)
            }
            try await exchange.regainPlace()
        } catch {
            var error = error
            error.attempts = exchange.attempt
            if !error.isCancellation { error.underlying = failure }
            throw error
        }
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
        context.emit(.attemptEnded(attempt, timings ?? AttemptTimings(), error))
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
