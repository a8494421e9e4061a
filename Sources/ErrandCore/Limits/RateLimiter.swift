package import ErrandHTTP
import Synchronization

/// The rate limit state of recently used hosts, and of tags with a limit.
package final class RateLimiter: Sendable {
    private let hostRateLimiters = Mutex(HostTable<HostRateLimit>())

    package init() {}

    /// The number of hosts and tags in the table.
    package var count: Int { hostRateLimiters.withLock { $0.count } }

    /// The token bucket of a host or a tag, with its configured limit.
    package struct Bucket: Sendable {
        package var name: String
        package var limit: RateLimit?

        package init(name: String, limit: RateLimit?) {
            self.name = name
            self.limit = limit
        }
    }

    /// The table key of a tag; it contains a space, so it is never a host name.
    package static func name(of tag: Int) -> String { "tag \(tag)" }

    /// Takes a token of a host; returns how long to wait for it.
    package func reserve(_ host: String, limit: RateLimit?, now: Duration) -> Duration {
        reserve([Bucket(name: host, limit: limit)], now: now)
    }

    /// Takes a token of each bucket; returns how long to wait for all of them.
    package func reserve(_ buckets: [Bucket], now: Duration) -> Duration {
        buckets.reduce(.zero) { delay, bucket in
            max(delay, change(bucket.name, now) { $0.reserve(bucket.limit, now: now) })
        }
    }

    /// Returns the reserved tokens of a request that was cancelled.
    package func cancel(_ buckets: [Bucket], now: Duration) {
        for bucket in buckets { change(bucket.name, now) { $0.cancel() } }
    }

    /// The longest pause that a server has requested for one of the buckets.
    package func pause(of buckets: [Bucket], now: Duration) -> Duration {
        hostRateLimiters.withLock { hostRateLimiters in
            buckets.map { hostRateLimiters.value(for: $0.name)?.pause(now: now) ?? .zero }.max()
                ?? .zero
        }
    }

    /// Applies the rate limit headers of a response.
    package func learn(_ headers: RateLimitHeaders, of host: String, now: Duration) {
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
