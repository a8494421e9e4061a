/// How often requests go to one host: a bucket of tokens that refills steadily.
///
///     configuration.rateLimit = RateLimit(requests: 10, per: .seconds(1), burst: 20)
public struct RateLimit: Sendable, Hashable {
    /// How many requests in each period, in the long run.
    public var requests: Int
    /// The period.
    public var per: Duration
    /// How many may go at once after a quiet time.
    public var burst: Int

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - requests: How many in each period; at least 1.
    ///   - per: The period.
    ///   - burst: How many may go at once after a quiet time; `nil` is as many as in a period.
    public init(requests: Int, per: Duration, burst: Int? = nil) {
        self.requests = requests
        self.per = per
        self.burst = burst ?? requests
    }

    package var isSensible: Bool { requests >= 1 && burst >= 1 && per > .zero }

    /// How long it takes until so many tokens have come; no longer than can be counted.
    func time(for tokens: Double) -> Duration {
        (per.countable / Double(requests) * max(0, min(tokens, 1e9))).countable
    }
}

/// What one host allows, as far as is known: a pure machine.
package struct Pace: Sendable, Equatable {
    /// The longest pause that an answer's headers can impose.
    package static let longestPause = Duration.seconds(300)

    private var tokens: Double?
    private var refilledAt = Duration.zero
    private var blockedUntil = Duration.zero
    /// When the bucket is full again, if nobody takes any more.
    private var fullAt = Duration.zero
    /// What the server says it allows, for hosts without a limit of the configuration's.
    private var learned: RateLimit?
    /// How often in a row the server refused without saying for how long, or with a pause that is over.
    private var refusals = 0

    package init() {}

    /// Whether nothing is known that a new one would not say: a full bucket, no silence asked for, and no limit of the
    /// server's, which it need not say again.
    package func isIdle(now: Duration) -> Bool {
        learned == nil && now >= fullAt && now >= blockedUntil && refusals == 0
    }

    /// Takes a token, now or of the future; returns how long to wait for it.
    ///
    /// A limit that the server named imposes no more than ``longestPause``, the configuration's own whatever it is.
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

    /// Gives back the token of whoever stopped waiting.
    package mutating func cancel() {
        if let tokens { self.tokens = tokens + 1 }
    }

    /// How long the host wants nothing.
    package func pause(now: Duration) -> Duration { max(.zero, blockedUntil - now) }

    /// The host asked for silence.
    package mutating func hold(for pause: Duration, now: Duration) {
        blockedUntil = max(blockedUntil, now + min(max(pause, .zero), Self.longestPause))
    }

    /// Takes up what an answer says: a pause, a limit, what is left of it, or just that it was too much.
    package mutating func learn(_ said: RateLimitHeaders, now: Duration) {
        if let limit = said.limit, limit.isSensible, limit != learned {
            learned = limit
            // What was saved up under another limit counts no more.
            tokens = nil
        }
        if let learned, let remaining = said.remaining {
            refill(learned, now: now)
            tokens = min(tokens ?? Double(learned.burst), Double(remaining))
            let missing = Double(learned.burst) - Double(remaining)
            fullAt = max(fullAt, now + learned.time(for: missing))
        }
        // A 429 with no pause, or one that is over, is a refusal like one without a word about it: who takes "at
        // once" literally is refused in a circle.
        if let pause = said.pause, pause > .zero || !said.isRefusal {
            refusals = 0
            hold(for: pause, now: now)
        } else if said.isRefusal {
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
