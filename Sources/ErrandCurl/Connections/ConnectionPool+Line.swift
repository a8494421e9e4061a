extension ConnectionPool {
    /// The connections and the waiting requests of one key.
    struct Line {
        /// How the connections carry requests.
        enum Mode {
            /// The first connection shows it; until then, one connect serves all waiters.
            case unknown
            /// One after another: each waiter needs a connection.
            case exclusive
            /// Many at once.
            case shared
        }

        /// The key of the first request.
        let key: ConnectionKey
        var mode: Mode
        /// Shared connections that accept requests; those that are idle have been so since a time.
        var shared:
            [(connection: Connection, idle: (since: MonotonicTime, expiry: MonotonicTime)?)] =
                []
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
        /// The last limit that the server has named for the requests on one shared connection.
        var limit = PeerSettings.assumedStreams
        /// Whether a connect has failed since a shared connection accepted a waiter.
        var hasFailed = false
        /// The newest request when the last connect started.
        var lastAtStart: Ticket = 0
        /// The number of later requests with other keys that got a connection to the host while this line was wanting.
        var passed = 0
        /// Whether another key may take the line.
        var isFree = false

        init(key: ConnectionKey) {
            self.key = key
            mode =
                switch key.version {
                case .http11: .exclusive
                case .automatic, .http2: .unknown
                case .priorKnowledge: .shared
                }
        }

        var waiting: Int { waiters.count - served }

        /// The number of requests that a new shared connection is expected to carry.
        var requestsPerConnection: Int { min(max(limit, 1), PeerSettings.assumedStreams) }

        /// The number of waiters that the connects in progress are expected to serve.
        var expected: Int {
            mode == .shared ? connecting * requestsPerConnection : connecting
        }

        /// Whether an open connection will accept the waiters, one after another.
        var isServed: Bool { mode == .shared && !shared.isEmpty }

        /// The number of connects that the waiters need.
        var wanted: Int {
            switch mode {
            case .unknown: min(waiting, 1)
            case .exclusive: waiting
            case .shared:
                isServed && (hasFailed || limit < 1)
                    ? 0 : (waiting + requestsPerConnection - 1) / requestsPerConnection
            }
        }

        /// The index of the first request for which no connection is in progress, of a wanting line.
        var wantedIndex: Int { served + expected }

        /// The first request for which no connection is in progress, of a wanting line.
        var wantedBy: Ticket { waiters[wantedIndex].ticket }

        var isUnused: Bool { open == 0 && connecting == 0 && waiting == 0 }

        /// Removes the waiters that fail with a connect: those that waited for it, unless others are in progress.
        mutating func failWaiters() -> [Waiter] {
            guard !isServed else {
                hasFailed = true
                return []
            }
            var left = waiting - expected
            if mode == .exclusive { left = min(left, 1) }
            var failed: [Waiter] = []
            while left > 0, mode == .exclusive || waiters[served].ticket <= lastAtStart,
                let waiter = nextWaiter()
            {
                failed.append(waiter)
                left -= 1
            }
            return failed
        }

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
