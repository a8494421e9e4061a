/// Keeps attempts apart as the rate limits of host and tag want it, and learns from its answers.
package struct PaceStep: Step {
    let pacer: Pacer

    package func concerns(_ exchange: Exchange) -> Bool {
        let configuration = exchange.context.sharedConfiguration
        return configuration.value.rateLimit != nil || configuration.value.learnsRateLimits
            || !configuration.value.hostRateLimits.isEmpty
            || !configuration.value.tagRateLimits.isEmpty
    }

    nonisolated(nonsending) package func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response {
        let (turns, delay) = try reserve(exchange)
        try await exchange.pausing(delay > .zero) { () throws(RequestError) in
            try await pacer.wait(for: turns, delay, exchange)
        }
        do {
            let response = try await next(exchange)
            learn(from: response, exchange)
            return response
        } catch {
            if let response = error.response { learn(from: response, exchange) }
            throw error
        }
    }

    // Apart from `run`, which is suspended and keeps room for whatever it names.
    @inline(never)
    private func reserve(
        _ exchange: Exchange
    ) throws(RequestError) -> (turns: [Pacer.Turn], delay: Duration) {
        let configuration = exchange.configuration
        let host = exchange.request.host ?? ""
        let limit =
            try Self.limit(of: host, configuration.hostRateLimits) ?? configuration.rateLimit
        let tagLimit = configuration.tagRateLimits[exchange.description.tag]
        for limit in [limit, tagLimit].compactMap(\.self) where !limit.isSensible {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "A rate limit needs at least 1 request, a burst of at least 1 and a period above zero."
            )
        }
        var turns = [Pacer.Turn(name: host, limit: limit)]
        if let tagLimit {
            turns.append(
                Pacer.Turn(name: Pacer.name(of: exchange.description.tag), limit: tagLimit))
        }
        return (turns, pacer.reserve(turns, now: exchange.context.clock.uptime))
    }

    /// The limit of the most particular pattern that means the host.
    private static func limit(
        of host: String, _ limits: [String: RateLimit]
    ) throws(RequestError) -> RateLimit? {
        var best: (pattern: HostPattern, limit: RateLimit)?
        for (name, limit) in limits {
            let pattern = HostPattern(name)
            try pattern.check(in: "hostRateLimits")
            guard pattern.matches(host), best?.pattern.isWeaker(than: pattern) != false else {
                continue
            }
            best = (pattern, limit)
        }
        return best?.limit
    }

    @inline(never)
    private func learn(from response: Response, _ exchange: Exchange) {
        guard exchange.configuration.learnsRateLimits else { return }
        let clock = exchange.context.clock
        let said = RateLimitHeaders(
            status: response.status.code, headers: response.headers, now: clock.now)
        pacer.learn(said, of: exchange.request.host ?? "", now: clock.uptime)
    }
}
