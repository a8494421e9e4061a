package import ErrandHTTP

/// The rate limit state of one host; pure.
package struct HostRateLimit: Sendable, Equatable {
    /// The longest pause that response headers can cause.
    package static let longestPause = Duration.seconds(300)

    private var tokens: Double?
    private var refilledAt = Duration.zero
    private var blockedUntil = Duration.zero
    /// When the bucket is full again if no more tokens are taken.
    private var fullAt = Duration.zero
    /// The limit that the server announced, for hosts without a configured limit.
    private var learned: RateLimit?
    /// The number of consecutive refusals without a pause, or with one that is over.
    private var refusals = 0

    package init() {}

    /// Whether the state equals a new one: a full bucket, no pause, and no announced limit (servers may not repeat it).
    package func isIdle(now: Duration) -> Bool {
        learned == nil && now >= fullAt && now >= blockedUntil && refusals == 0
    }

    /// Takes a token, possibly a future one; returns how long to wait for it.
    ///
    /// An announced limit delays by at most ``longestPause``; a configured limit has no such bound.
    package mutating func reserve(_ own: RateLimit?, now: Duration) -> Duration {
        let blocked = max(.zero, blockedUntil - now)
        guard let limit = own ?? learned else { return blocked }
        refill(limit, now: now)
        let left = (tokens ?? Double(limit.burst)) - 1
        tokens = left
        fullAt = now + limit.time(for: Double(limit.burst) - left)
        let delay = max(blocked, left >= 0 ? .zero : limit.time(for: -left))
        return own == nil ? min(delay, Self.longestPause) : delay
    }

    /// Returns the token of a cancelled request.
    package mutating func cancel() {
        if let tokens { self.tokens = tokens + 1 }
    }

    /// The rest of the pause that the server requested.
    package func pause(now: Duration) -> Duration { max(.zero, blockedUntil - now) }

    /// Starts a pause that the server requested.
    package mutating func hold(for pause: Duration, now: Duration) {
        blockedUntil = max(blockedUntil, now + min(max(pause, .zero), Self.longestPause))
    }

    /// Applies response headers: a pause, a limit, the remaining requests, or a refusal.
    package mutating func learn(_ headers: RateLimitHeaders, now: Duration) {
        if let limit = headers.limit, limit.isValid, limit != learned {
            learned = limit
            // The saved tokens of the previous limit are no longer valid.
            tokens = nil
        }
        if let learned, let remaining = headers.remaining {
            refill(learned, now: now)
            tokens = min(tokens ?? Double(learned.burst), Double(remaining))
            let missing = Double(learned.burst) - Double(remaining)
            fullAt = max(fullAt, now + learned.time(for: missing))
        }
        // A 429 whose pause is zero or in the past counts as one without a pause: an immediate retry would be refused.
        if let pause = headers.pause, pause > .zero || !headers.isRefusal {
            refusals = 0
            hold(for: pause, now: now)
        } else if headers.isRefusal {
            hold(for: .seconds(1 << min(refusals, 6)), now: now)
            refusals += 1
        } else {
            refusals = 0
        }
    }

    private mutating func refill(_ limit: RateLimit, now: Duration) {
        let gained = Double(limit.requests) * ((now - refilledAt) / limit.per)
        refilledAt = now
        guard let tokens else {
            self.tokens = Double(limit.burst)
            return
        }
        self.tokens = min(Double(limit.burst), tokens + max(0, gained))
    }
}
