import Synchronization

/// The pace of every host that was asked of late, and of every tag with a limit.
package final class Pacer: Sendable {
    private let paces = Mutex(HostTable<Pace>())

    package init() {}

    /// How many hosts are remembered.
    package var count: Int { paces.withLock { $0.count } }

    /// What a request has to wait for: a host, or a tag.
    struct Turn {
        var name: String
        var limit: RateLimit?
    }

    /// What a tag is called among the hosts; no host has a space in it.
    static func name(of tag: Int) -> String { "tag \(tag)" }

    /// Takes a turn; returns how long to wait for it.
    func reserve(_ host: String, limit: RateLimit?, now: Duration) -> Duration {
        reserve([Turn(name: host, limit: limit)], now: now)
    }

    /// Takes its turn with each; returns how long to wait for all of them.
    func reserve(_ turns: [Turn], now: Duration) -> Duration {
        turns.reduce(.zero) { delay, turn in
            max(delay, change(turn.name, now) { $0.reserve(turn.limit, now: now) })
        }
    }

    /// Waits for the turns that were taken; who is cancelled gives them back.
    func wait(
        for turns: [Turn], _ reserved: Duration, _ exchange: Exchange
    ) async throws(RequestError) {
        guard reserved > .zero else { return }
        let clock = exchange.context.clock
        var delay = reserved
        exchange.context.emit(.rateLimited(for: delay))
        // The host may have asked for more silence meanwhile.
        while delay > .zero {
            do {
                try await exchange.sleep(for: delay)
            } catch {
                for turn in turns { change(turn.name, clock.uptime) { $0.cancel() } }
                throw .cancelled
            }
            delay = paces.withLock { paces in
                turns.map { paces.value(for: $0.name)?.pause(now: clock.uptime) ?? .zero }.max()
                    ?? .zero
            }
        }
    }

    /// Takes up what an answer of the host says.
    func learn(_ said: RateLimitHeaders, of host: String, now: Duration) {
        change(host, now) { $0.learn(said, now: now) }
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ host: String, _ now: Duration, _ change: (inout Pace) -> Result
    ) -> Result {
        paces.withLock { paces in
            paces.update(host, new: Pace(), isIdle: { $0.isIdle(now: now) }, change)
        }
    }
}
