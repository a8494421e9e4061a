import Synchronization

/// The pace of every host that was asked of late.
package final class Pacer: Sendable {
    private let paces = Mutex(HostTable<Pace>())

    package init() {}

    /// How many hosts are remembered.
    package var count: Int { paces.withLock { $0.count } }

    /// Takes a turn; returns how long to wait for it.
    func reserve(_ host: String, limit: RateLimit?, now: Duration) -> Duration {
        change(host, now) { $0.reserve(limit, now: now) }
    }

    /// Waits for the turn that was taken; who is cancelled gives it back.
    func wait(
        _ host: String, _ reserved: Duration, _ exchange: Exchange
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
                change(host, clock.uptime) { $0.cancel() }
                throw .cancelled
            }
            delay = paces.withLock { $0.value(for: host)?.pause(now: clock.uptime) ?? .zero }
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
