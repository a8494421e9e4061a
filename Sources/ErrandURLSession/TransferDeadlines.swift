import ErrandTransport

/// Computes a transfer's timeouts from times since its start.
///
/// A pure value.
struct TransferDeadlines {
    enum Verdict: Hashable {
        /// Check again after the duration.
        case wait(Duration)
        /// No timeout applies.
        case never
        /// The connect timeout is reached, and no activity has shown that a connection exists.
        case isConnecting
        case expired(RequestError.TimeoutKind)
    }

    private let connect: Duration?
    private let idle: Duration?
    private var lastActivity: Duration
    private var isConnected = false
    /// Whether bytes were sent to or received from the server.
    private(set) var hasServerActivity = false
    /// Whether the receiver is paused, so that the idle timeout does not apply.
    private var isPaused = false

    /// - Parameter connectStart: The start of the connect limit; `nil` for that of the others.
    init(_ timeouts: Timeouts, start: Duration, connectStart: Duration? = nil) {
        connect = timeouts.connect.map { (connectStart ?? start) + $0 }
        idle = timeouts.idle
        lastActivity = start
    }

    /// Records activity.
    ///
    /// `fromServer` is true if it shows that a connection exists.
    mutating func active(at time: Duration, fromServer: Bool) {
        lastActivity = max(lastActivity, time)
        if fromServer { (isConnected, hasServerActivity) = (true, true) }
    }

    /// Ends the connect timeout: the connection exists, or its state is unknown.
    ///
    /// The idle timeout remains.
    mutating func connected() { isConnected = true }

    mutating func setPaused(_ paused: Bool, at time: Duration) {
        if isPaused, !paused { lastActivity = time }
        isPaused = paused
    }

    /// Moves an expired idle deadline if the receiver has not been waiting for the whole limit; returns false if the
    /// deadline has expired.
    ///
    /// - Parameter waitingTime: ``TransferReceiver/waitingTime``.
    mutating func postponeIdle(waitingTime: Duration?, at time: Duration) -> Bool {
        let begin = time - min(time, waitingTime ?? .zero)
        guard begin > lastActivity else { return false }
        lastActivity = begin
        return verdict(at: time) != .expired(.idle)
    }

    func verdict(at time: Duration) -> Verdict {
        var next: Duration?
        if let connect, !isConnected {
            if time >= connect { return .isConnecting }
            next = connect
        }
        if let idle {
            // While the receiver is paused, nothing can expire; check again after a full timeout.
            let deadline = isPaused ? time + idle : lastActivity + idle
            if time >= deadline { return .expired(.idle) }
            next = min(next ?? deadline, deadline)
        }
        guard let next else { return .never }
        return .wait(next - time)
    }
}
