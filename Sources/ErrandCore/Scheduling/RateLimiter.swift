import Synchronization

/// The rate limit state of recently used hosts, and of tags with a limit.
package final class RateLimiter: Sendable {
    private let hostRateLimiters = Mutex(HostTable<HostRateLimit>())

    package init() {}

    /// The number of hosts and tags in the table.
    package var count: Int { hostRateLimiters.withLock { $0.count } }

    /// The token bucket of a host or a tag, with its configured limit.
    struct Bucket {
        package var name: String
        package var limit: RateLimit?
    }

    /// The table key of a tag; it contains a space, so it is never a host name.
    static func name(of tag: Int) -> String { "tag \(tag)" }

    /// Takes a token of a host; returns how long to wait for it.
    func reserve(_ host: String, limit: RateLimit?, now: Duration) -> Duration {
        reserve([Bucket(name: host, limit: limit)], now: now)
    }

    /// Takes a token of each bucket; returns how long to wait for all of them.
    func reserve(_ buckets: [Bucket], now: Duration) -> Duration {
        buckets.reduce(.zero) { delay, bucket in
            max(delay, change(bucket.name, now) { $0.reserve(bucket.limit, now: now) })
        }
    }

    /// Waits for the reserved tokens; returns them if the request is cancelled.
    func wait(
        for buckets: [Bucket], _ reserved: Duration, _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) {
        guard reserved > .zero else { return }
        let clock = pipelineRequest.context.clock
        var delay = reserved
        pipelineRequest.context.emit(.rateLimited(for: delay))
        // The server may have requested another pause meanwhile.
        while delay > .zero {
            do {
                try await pipelineRequest.sleep(for: delay)
            } catch {
                for bucket in buckets { change(bucket.name, clock.uptime) { $0.cancel() } }
                throw .cancelled
            }
            delay = hostRateLimiters.withLock { hostRateLimiters in
                buckets.map {
                    hostRateLimiters.value(for: $0.name)?.pause(now: clock.uptime) ?? .zero
                }.max()
                    ?? .zero
            }
        }
    }

    /// Applies the rate limit headers of a response.
    func learn(_ headers: RateLimitHeaders, of host: String, now: Duration) {
        change(host, now) { $0.learn(headers, now: now) }
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ host: String, _ now: Duration, _ change: (inout HostRateLimit) -> Result
    ) -> Result {
        hostRateLimiters.withLock { hostRateLimiters in
            hostRateLimiters.update(
                host, new: HostRateLimit(), isIdle: { $0.isIdle(now: now) }, change)
        }
    }
}
