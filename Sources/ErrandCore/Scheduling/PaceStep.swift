import Synchronization

/// Keeps attempts apart as the host's rate limit wants it, and learns from its answers.
package struct PaceStep: Step {
    let pacer: Pacer

    package func concerns(_ exchange: Exchange) -> Bool {
        let configuration = exchange.context.sharedConfiguration
        return configuration.value.rateLimit != nil || configuration.value.learnsRateLimits
            || !configuration.value.hostRateLimits.isEmpty
    }

    package func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let configuration = exchange.configuration
        guard
            configuration.rateLimit != nil || configuration.learnsRateLimits
                || !configuration.hostRateLimits.isEmpty
        else { return try await next(exchange) }
        let host = exchange.request.url.host ?? ""
        let limit = configuration.hostRateLimits[host] ?? configuration.rateLimit
        if let limit, !limit.isSensible {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "A rate limit needs at least 1 request, a burst of at least 1 and a period above zero."
            )
        }
        try await pacer.wait(host, limit: limit, exchange)
        guard configuration.learnsRateLimits else { return try await next(exchange) }
        do {
            let response = try await next(exchange)
            learn(from: response, host, exchange.context)
            return response
        } catch {
            if let response = error.response { learn(from: response, host, exchange.context) }
            throw error
        }
    }

    private func learn(from response: Response, _ host: String, _ context: TaskContext) {
        let pause = RateLimitHeaders.pause(
            status: response.status.code, headers: response.headers, now: context.clock.now)
        if let pause { pacer.hold(host, for: pause, now: context.clock.uptime) }
    }
}

/// The pace of every host.
package final class Pacer: Sendable {
    private let paces = Mutex<[String: Pace]>([:])

    package init() {}

    /// Waits until a request may go; who is cancelled gives his turn back.
    func wait(_ host: String, limit: RateLimit?, _ exchange: Exchange) async throws(RequestError) {
        let clock = exchange.context.clock
        var delay = paces.withLock { $0[host, default: Pace()].reserve(limit, now: clock.uptime) }
        guard delay > .zero else { return }
        exchange.context.emit(.rateLimited(for: delay))
        // The host may have asked for more silence meanwhile.
        while delay > .zero {
            do {
                try await exchange.sleep(for: delay)
            } catch {
                paces.withLock { $0[host]?.cancel() }
                throw .cancelled
            }
            delay = paces.withLock { $0[host]?.pause(now: clock.uptime) ?? .zero }
        }
    }

    func hold(_ host: String, for pause: Duration, now: Duration) {
        paces.withLock { $0[host, default: Pace()].hold(for: pause, now: now) }
    }
}
