#if os(Linux)
    import ErrandTransport

    /// The times and the sizes of an exchange.
    struct ExchangeTimes {
        var started = MonotonicTime.never
        var headBytesSent: Int64 = 0
        var headBytesReceived: Int64 = 0
        private var nameLookedUp: Duration?
        private var connected: Duration?
        private var secured: Duration?
        private var isReused: Bool?
        private var firstByte = MonotonicTime.never

        /// Records the connection of the request.
        mutating func use(_ facts: Connector.Facts, isReused: Bool, created: MonotonicTime) {
            self.isReused = isReused
            (nameLookedUp, connected, secured) = (nil, nil, nil)
            guard !isReused else { return }
            // The connect may have begun before the transfer was created.
            let queued = started.since(created)
            func moment(_ duration: Duration?) -> Duration? {
                duration.map {
                    max(queued, facts.started.advanced(by: $0).since(created))
                }
            }
            nameLookedUp = moment(facts.nameLookedUp)
            connected = moment(facts.connected)
            secured = moment(facts.secured)
            if let name = nameLookedUp, let connected { nameLookedUp = min(name, connected) }
        }

        mutating func receivedInput() {
            if firstByte == .never { firstByte = EventLoop.readClock() }
        }

        func timings(created: MonotonicTime) -> AttemptTimings {
            var timings = AttemptTimings()
            timings.moments.queued = started.moment(since: created)
            timings.moments.finished = EventLoop.readClock().moment(since: created)
            timings.nameLookedUp = nameLookedUp
            timings.connected = connected
            timings.secured = secured
            timings.moments.firstByte = firstByte.moment(since: created)
            timings.reusedConnection = isReused
            timings.headBytesReceived = headBytesReceived
            return timings
        }
    }
#endif
