import ErrandCore

/// When a transfer has waited too long: pure arithmetic on times since its start.
struct TransferDeadlines {
    enum Verdict: Hashable {
        /// Look again after so long.
        case wait(Duration)
        /// There is no limit.
        case never
        /// The limit of connecting is reached and nothing has shown that there is a connection.
        case isConnecting
        case expired(RequestError.TimeoutKind)
    }

    private let connect: Duration?
    private let idle: Duration?
    private var lastActivity: Duration
    private var isConnected = false
    /// Whether the server has shown that there is a connection.
    private(set) var hasHeard = false
    /// Silence while the receiver does not want bytes is nobody's fault.
    private var isPaused = false

    init(_ timeouts: Timeouts, start: Duration) {
        connect = timeouts.connect.map { start + $0 }
        idle = timeouts.idle
        lastActivity = start
    }

    /// A byte went out or came in.
    mutating func active(at time: Duration, fromServer: Bool) {
        lastActivity = max(lastActivity, time)
        if fromServer { (isConnected, hasHeard) = (true, true) }
    }

    /// The connection is there, or nobody can tell: from now on only silence counts.
    mutating func connected() { isConnected = true }

    mutating func setPaused(_ paused: Bool, at time: Duration) {
        if isPaused, !paused { lastActivity = time }
        isPaused = paused
    }

    func verdict(at time: Duration) -> Verdict {
        var next: Duration?
        if let connect, !isConnected {
            if time >= connect { return .isConnecting }
            next = connect
        }
        if let idle {
            // While the receiver pauses there is nothing to see; look again a whole limit later.
            let deadline = isPaused ? time + idle : lastActivity + idle
            if time >= deadline { return .expired(.idle) }
            next = min(next ?? deadline, deadline)
        }
        guard let next else { return .never }
        return .wait(next - time)
    }
}
