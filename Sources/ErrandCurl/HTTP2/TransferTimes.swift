import ErrandTransport

/// The times of a transfer that libcurl carries.
struct TransferTimes {
    /// The values that libcurl measured, in microseconds since ``TransferTimes/started``; 0 if
    /// unknown.
    struct Measured {
        var nameLookup: Int64 = 0
        var connect: Int64 = 0
        var handshake: Int64 = 0
        var firstByte: Int64 = 0
        /// Whether the transfer opened a connection.
        var isConnectionNew = false
    }

    /// The time at which libcurl's timings start.
    private(set) var started: MonotonicTime
    /// Whether libcurl got the transfer.
    var wasAttached = false

    init(startingAt now: MonotonicTime) { started = now }

    /// Records that the transfer starts later; the earlier time counts as queued.
    mutating func restart(at now: MonotonicTime) { started = now }

    /// The timings of the transfer.
    ///
    /// - Parameter measured: libcurl's values; `nil` if libcurl did not get the transfer.
    func timings(
        created: MonotonicTime, finished: MonotonicTime, measured: Measured?, wasSent: Bool,
        hasResponseBegun: Bool
    ) -> AttemptTimings {
        var timings = AttemptTimings()
        let queued = started.since(created)
        timings.queued = queued
        timings.finished = finished.since(created)
        guard let measured else { return timings }
        func moment(_ microseconds: Int64) -> Duration? {
            microseconds > 0 ? queued + .microseconds(microseconds) : nil
        }
        if measured.isConnectionNew {
            timings.nameLookedUp = moment(measured.nameLookup)
            timings.connected = moment(measured.connect)
            timings.secured = moment(measured.handshake)
            // If libcurl connected twice, it may report the end of the second name lookup and of
            // the first connect.
            if let name = timings.nameLookedUp, let connected = timings.connected {
                timings.nameLookedUp = min(name, connected)
            }
        }
        if wasSent { timings.reusedConnection = !measured.isConnectionNew }
        if hasResponseBegun { timings.firstByte = moment(measured.firstByte) }
        return timings
    }
}
