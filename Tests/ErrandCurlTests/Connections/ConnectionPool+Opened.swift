@testable import ErrandCurl

extension ConnectionPool where Waiter == String {
    /// Adds a connection whose own request waits no more; returns the request that uses it.
    mutating func opened(
        _ connection: Connection, _ key: ConnectionKey, at now: MonotonicTime
    ) -> Waiter? {
        let ticket = wait(key, for: "opener")
        while nextStart() != nil {}
        _ = cancel(ticket, key)
        return connected(connection, key, at: now)
    }
}
