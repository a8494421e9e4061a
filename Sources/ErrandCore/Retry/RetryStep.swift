import Foundation
import HTTPTypes

/// Sends again what failed for a reason that may pass.
package struct RetryStep: Step {
    let guards: HostGuards

    // What is not waited for, and what is only seldom, stands in functions of its own, and these apart from `run`: it
    // is suspended for as long as the attempts last, and keeps room for whatever it names.
    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        var exchange = try first(exchange)
        while true {
            let failure: RequestError
            do {
                let response: Response
                if Self.isLimited(exchange) {
                    response = try await withinLimit(exchange, next)
                } else {
                    response = try await next(exchange)
                }
                return succeeded(response, exchange)
            } catch {
                failure = failed(error, exchange)
            }
            exchange = try await again(after: failure, exchange)
        }
    }

    private static func policy(of exchange: Exchange) -> RetryPolicy {
        if let own = exchange.context.description.retryPolicy { return own }
        return exchange.configuration.retryPolicy
    }

    @inline(never)
    private static func isLimited(_ exchange: Exchange) -> Bool {
        policy(of: exchange).attemptTimeout != nil
    }

    private static func host(of exchange: Exchange) -> String { exchange.request.host ?? "" }

    /// The first attempt.
    @inline(never)
    private func first(_ exchange: Exchange) throws(RequestError) -> Exchange {
        var exchange = exchange
        exchange.attempt = 1
        if Self.policy(of: exchange).sendsIdempotencyKey, !exchange.request.method.isIdempotent,
            let name = HTTPField.Name.idempotencyKey, exchange.request.headers[name] == nil
        {
            exchange.request.headers[name] = UUID().uuidString
        }
        if let budget = exchange.configuration.retryBudget {
            guards.deposit(budget, host: Self.host(of: exchange))
        }
        try begin(exchange)
        return exchange
    }

    /// The next attempt, after its pause; throws the error where there is none.
    @inline(never)
    private func again(
        after failure: RequestError, _ exchange: Exchange
    ) async throws(RequestError) -> Exchange {
        let delay = try pause(after: failure, exchange)
        try await wait(delay, after: failure, exchange)
        var exchange = exchange
        // An answer has those of the attempts before it already.
        exchange.earlierTimings =
            failure.response?.timings
            ?? exchange.earlierTimings + [failure.timings].compactMap(\.self)
        exchange.attempt += 1
        if exchange.serialized != nil { exchange.request = try await processed(exchange) }
        do throws(RequestError) {
            try begin(exchange)
        } catch {
            var refused = error
            refused.underlying = failure
            throw refused
        }
        return exchange
    }

    private func begin(_ exchange: Exchange) throws(RequestError) {
        try askCircuit(exchange)
        exchange.context.emit(.attemptStarted(exchange.attempt))
    }

    @inline(never)
    private func succeeded(_ response: Response, _ exchange: Exchange) -> Response {
        var response = response
        // The transport step has counted; a stand-in for it may not.
        if response.attempts != exchange.attempt { response.attempts = exchange.attempt }
        tellCircuit(exchange, nil)
        ended(exchange.attempt, response.timings.last, nil, exchange.context)
        if exchange.attempt > 1 { response.timings = exchange.earlierTimings + response.timings }
        return response
    }

    @inline(never)
    private func failed(
        _ error: RequestError, _ exchange: Exchange
    ) -> RequestError {
        var error = error
        error.attempts = exchange.attempt
        error.response?.attempts = exchange.attempt
        tellCircuit(exchange, error)
        let timings = error.timings ?? error.response?.timings.last
        ended(exchange.attempt, timings, error, exchange.context)
        if exchange.attempt > 1, let own = error.response?.timings {
            error.response?.timings = exchange.earlierTimings + own
        }
        return error
    }

    /// The pause before a further attempt; throws the error where there is none.
    @inline(never)
    private func pause(
        after error: RequestError, _ exchange: Exchange
    ) throws(RequestError) -> Duration {
        let policy = Self.policy(of: exchange)
        let delay: Duration
        switch decide(error, policy: policy, exchange) {
        case .again(let pause): delay = pause
        case .giveUp(let reason):
            if policy.maximumAttempts > 1, !error.isCancellation {
                exchange.context.emit(.retryDeclined(reason))
            }
            throw error
        }
        if let budget = exchange.configuration.retryBudget,
            !guards.withdraw(budget, host: Self.host(of: exchange))
        {
            exchange.context.emit(.retryBudgetSpent)
            throw error
        }
        exchange.context.emit(.retrying(after: delay, error))
        return delay
    }

    /// Signatures with their time stamps are made anew for each attempt; the idempotency key stays.
    private func processed(_ exchange: Exchange) async throws(RequestError) -> TransportRequest {
        var request = exchange.serialized ?? exchange.request
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
            error.underlying = failure
            throw error
        }
    }

    /// One attempt, within its own limit.
    @inline(never)
    private func withinLimit(
        _ exchange: Exchange, _ next: Next
    ) async throws(RequestError) -> Response {
        guard let limit = Self.policy(of: exchange).attemptTimeout else {
            return try await next(exchange)
        }
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
        guard context.isHeard else { return }
        context.emit(.attemptEnded(attempt, timings ?? AttemptTimings(), error))
    }

    private func askCircuit(_ exchange: Exchange) throws(RequestError) {
        guard let policy = exchange.configuration.circuitBreaker else { return }
        let host = Self.host(of: exchange)
        let verdict = guards.request(policy, host: host, now: exchange.context.clock.uptime)
        guard case .refuse(let pause) = verdict else { return }
        // Whole seconds, rounded up, are enough to know when to come back.
        let seconds = pause.components.seconds &+ (pause.components.attoseconds > 0 ? 1 : 0)
        let until =
            seconds > 0
            ? "nothing is sent for another \(seconds) s"
            : "one request is trying it, and nothing else is sent until that has ended"
        throw RequestError(
            .circuitOpen, stage: .schedule,
            "\(host) failed too often; \(until). See configuration.circuitBreaker.",
            attempts: exchange.attempt - 1)
    }

    private func tellCircuit(_ exchange: Exchange, _ error: RequestError?) {
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
        guards.ended(
            outcome, policy, host: Self.host(of: exchange), now: exchange.context.clock.uptime)
    }
}
