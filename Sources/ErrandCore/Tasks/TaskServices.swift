package import ErrandTransport

/// What all requests of an agent use: one reference for each task instead of four.
package final class TaskServices: Sendable {
    let transport: any Transport
    let store: (any ResponseStore)?
    let clock: any RequestClock
    /// The cookie jar of the agent, for configurations without one.
    let cookieJar: CookieJar?
    private let usesSystemClock: Bool

    /// The time of the clock; read for each event.
    var uptime: Duration { usesSystemClock ? SystemClock().uptime : clock.uptime }

    package init(
        transport: any Transport, store: (any ResponseStore)?, clock: any RequestClock,
        cookieJar: CookieJar?
    ) {
        self.transport = transport
        self.store = store
        self.clock = clock
        self.cookieJar = cookieJar
        usesSystemClock = clock is SystemClock
    }
}
