extension ConnectionPool {
    /// The connections and the waiting requests of one key.
    struct Line {
        let key: ConnectionKey
        /// The connection that has been idle longest is first.
        var idle: [(connection: Connection, since: MonotonicTime, expiry: MonotonicTime)] = []
        /// The waiters in order; those that were served come first, and are `nil`.
        var waiters: [(ticket: Ticket, waiter: Waiter?)] = []
        /// The number of waiters that were served.
        var served = 0
        var connecting = 0
        /// The number of open connections, idle or in use.
        var open = 0
        /// Whether a request waits for which no connection is in progress.
        var isWanting = false
        /// The number of later requests with other keys that got a connection to the host while this line was wanting.
        var passed = 0
        /// Whether another key may take the line.
        var isFree = false

        var waiting: Int { waiters.count - served }

        /// The first request for which no connection is in progress, of a wanting line.
        var wantedBy: Ticket { waiters[served + connecting].ticket }

        var isUnused: Bool { open == 0 && connecting == 0 && waiting == 0 }

        mutating func nextWaiter() -> Waiter? {
            guard waiting > 0 else { return nil }
            let waiter = waiters[served].waiter
            waiters[served].waiter = nil
            served += 1
            // The array is compacted rarely, so that many waiters are served in linear time.
            if served == waiters.count {
                waiters.removeAll(keepingCapacity: served < 256)
                served = 0
            } else if served >= 64, served * 2 >= waiters.count {
                waiters.removeFirst(served)
                served = 0
            }
            return waiter
        }

        mutating func removeWaiter(_ ticket: Ticket) -> Waiter? {
            guard let index = waiters[served...].firstIndex(where: { $0.ticket == ticket }) else {
                return nil
            }
            let waiter = waiters.remove(at: index).waiter
            // Served waiters are not kept without need.
            if served == waiters.count {
                waiters.removeAll()
                served = 0
            }
            return waiter
        }
    }
}
