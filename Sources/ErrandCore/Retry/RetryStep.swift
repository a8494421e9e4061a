/// Sends again what failed for a reason that may pass.
package struct RetryStep: Step {
    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let policy = exchange.description.retryPolicy ?? exchange.configuration.retryPolicy
        let context = exchange.context
        var exchange = exchange
        while true {
            exchange.attempt += 1
            let attempt = exchange.attempt
            context.emit(.attemptStarted(attempt))
            do {
                var response = try await next(exchange)
                response.attempts = attempt
                context.emit(.attemptEnded(attempt, response.timings.last ?? AttemptTimings(), nil))
                return response
            } catch {
                var error = error
                error.attempts = attempt
                error.response?.attempts = attempt
                context.emit(
                    .attemptEnded(
                        attempt, error.response?.timings.last ?? AttemptTimings(), error))
                let decision = RetryDecision.decide(
                    policy: policy, request: exchange.request, error: error, attempt: attempt,
                    now: context.clock.now, random: Double.random(in: 0..<1))
                guard case .again(let delay) = decision else { throw error }
                context.emit(.retrying(after: delay, error))
                do { try await context.clock.sleep(for: delay) } catch { throw .cancelled }
            }
        }
    }
}
