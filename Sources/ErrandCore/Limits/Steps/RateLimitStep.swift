import ErrandTransport

/// Delays attempts according to the rate limits of host and tag, and learns limits from responses.
package final class RateLimitStep: OptionalStep {
    private let rateLimiter: RateLimiter

    init(rateLimiter: RateLimiter) { self.rateLimiter = rateLimiter }

    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool {
        let configuration = pipelineRequest.task.sharedConfiguration
        return configuration.value.rateLimit != nil || configuration.value.learnsRateLimits
            || !configuration.value.hostRateLimits.isEmpty
            || !configuration.value.tagRateLimits.isEmpty
    }

    nonisolated(nonsending) package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        let (buckets, delay) = try reserve(pipelineRequest)
        try await pipelineRequest.pausing(delay > .zero) { () throws(RequestError) in
            try await wait(for: buckets, delay, pipelineRequest)
        }
        do {
            let response = try await next(pipelineRequest)
            learn(from: response, pipelineRequest)
            return response
        } catch {
            if let response = error.response { learn(from: response, pipelineRequest) }
            throw error
        }
    }

    private func reserve(
        _ pipelineRequest: PipelineRequest
    ) throws(RequestError) -> (buckets: [RateLimiter.Bucket], delay: Duration) {
        let configuration = pipelineRequest.configuration
        let host = pipelineRequest.request.host ?? ""
        let limit =
            try RateLimit.limit(of: host, configuration.hostRateLimits) ?? configuration.rateLimit
        let tagLimit = configuration.tagRateLimits[pipelineRequest.description.tag]
        for limit in [limit, tagLimit].compactMap(\.self) where !limit.isValid {
            throw RequestError(
                .invalidConfiguration, stage: .schedule,
                "A rate limit needs at least 1 request, a burst of at least 1 and a period above zero."
            )
        }
        var buckets = [RateLimiter.Bucket(name: host, limit: limit)]
        if let tagLimit {
            buckets.append(
                RateLimiter.Bucket(
                    name: RateLimiter.name(of: pipelineRequest.description.tag), limit: tagLimit))
        }
        return (buckets, rateLimiter.reserve(buckets, now: pipelineRequest.task.clock.uptime))
    }

    /// Waits for the reserved tokens; returns them if the request is cancelled.
    private func wait(
        for buckets: [RateLimiter.Bucket], _ reserved: Duration, _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) {
        guard reserved > .zero else { return }
        let clock = pipelineRequest.task.clock
        var delay = reserved
        pipelineRequest.task.emit(.rateLimited(for: delay))
        // The server may have requested another pause meanwhile.
        while delay > .zero {
            do {
                try await pipelineRequest.sleep(for: delay)
            } catch {
                rateLimiter.cancel(buckets, now: clock.uptime)
                throw .cancelled
            }
            delay = rateLimiter.pause(of: buckets, now: clock.uptime)
        }
    }

    private func learn(from response: Response, _ pipelineRequest: PipelineRequest) {
        guard pipelineRequest.configuration.learnsRateLimits else { return }
        let clock = pipelineRequest.task.clock
        let headers = RateLimitHeaders(
            status: response.status.code, headers: response.headers, now: clock.now)
        rateLimiter.learn(headers, of: pipelineRequest.request.host ?? "", now: clock.uptime)
    }
}
