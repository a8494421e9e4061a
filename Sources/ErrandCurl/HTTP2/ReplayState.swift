/// Counts how often libcurl sends a request, and decides whether it is sent again.
///
/// libcurl repeats a request on its own when a kept connection fails, or when the server refuses it
/// unprocessed. If it does not, the transport may replay the request once.
struct ReplayState {
    /// The facts about a request that libcurl wants to repeat.
    struct Repetition {
        /// Whether the server has not processed the request (RFC 9113 §8.7).
        var isUnprocessed: Bool
        /// Whether the server requires HTTP/1.1 for the request.
        var requiresHTTP11: Bool
        /// Whether the request may use HTTP/1.1.
        var allowsHTTP11: Bool
        /// Whether a part of a response has arrived.
        var hasResponseBegun: Bool
    }

    /// The reason why a request is not sent again.
    enum Refusal: Hashable {
        /// The server may have processed it.
        case lost
        /// The server has refused it too often.
        case unprocessed
        /// A part of a response has arrived.
        case responseBegun
        /// The server requires HTTP/1.1, which the request does not allow.
        case needsHTTP11
    }

    /// What happens when libcurl needs another socket for a request that was sent.
    enum SocketAction: Hashable {
        case open
        /// Refuse the socket: the request fails.
        case fail(Refusal)
        /// Refuse the socket: the request waits for admission again.
        case readmit
    }

    /// The facts about a transfer that libcurl has finished.
    struct Finish {
        var hasFailed: Bool
        /// Whether the server closed the connection without processing the request.
        var isUnprocessed: Bool
        /// Whether the request used a connection that had carried another request before.
        var isConnectionKept: Bool
        /// Whether the transfer failed with its connection.
        var isConnectionLost: Bool
        var hasResponseBegun: Bool
        /// Whether the transfer is still active.
        var isWanted: Bool
    }

    /// The maximum number of times that a request that may not be replayed is sent.
    static let maximumSendCount = 3

    /// Whether the request may be processed twice.
    let mayReplay: Bool
    /// The number of times that the request head was sent.
    private var sendCount = 0
    /// Whether the request may be repeated and was sent on a shared connection.
    private(set) var usedSharedConnection = false
    /// Whether the transport has replayed the request.
    private(set) var hasReplayed = false
    /// Whether the request lost its shared connection and requests admission again.
    private(set) var needsReadmission = false
    /// Whether the chosen connection cannot be used.
    private var needsOtherConnection = false

    init(mayReplay: Bool) { self.mayReplay = mayReplay }

    /// Whether the request head was sent.
    var wasSent: Bool { sendCount > 0 }

    /// Whether the transfer replays the request, if it is still wanted.
    var isReplayPending: Bool { !hasReplayed && (needsReadmission || needsOtherConnection) }

    // MARK: - Events

    /// Records that the request head is about to be sent.
    mutating func willSend() { sendCount += 1 }

    /// Records that the request is sent on a shared connection.
    ///
    /// - Parameter repeatsUnprocessed: Whether the request is repeated if it was not processed.
    mutating func sharesConnection(repeatsUnprocessed: Bool) {
        if mayReplay || repeatsUnprocessed { usedSharedConnection = true }
    }

    /// Records that the chosen connection cannot be used, before anything was sent on it; returns
    /// false if the request was already replayed.
    mutating func abandonConnection() -> Bool {
        guard !hasReplayed else { return false }
        sendCount -= 1
        needsOtherConnection = true
        return true
    }

    /// Decides whether libcurl may open another socket for a request that was sent.
    mutating func socketAction(_ repetition: Repetition) -> SocketAction {
        if let refusal = refusal(of: repetition) { return .fail(refusal) }
        // Other requests may have lost the same connection, and each would open a new one.
        guard usedSharedConnection, !hasReplayed, !repetition.requiresHTTP11 else { return .open }
        needsReadmission = true
        return .readmit
    }

    /// Records that the transport replays the request.
    mutating func replayed() {
        hasReplayed = true
        needsOtherConnection = false
    }

    // MARK: - Decisions

    /// The reason why libcurl must not send the request again; `nil` if it may.
    func refusal(of repetition: Repetition) -> Refusal? {
        guard repetition.requiresHTTP11 else {
            if mayReplay || repetition.isUnprocessed && sendCount < Self.maximumSendCount {
                return nil
            }
            return repetition.isUnprocessed ? .unprocessed : .lost
        }
        if repetition.hasResponseBegun { return .responseBegun }
        return mayReplay && repetition.allowsHTTP11 ? nil : .needsHTTP11
    }

    /// Whether the transport replays the request after libcurl has finished.
    func replays(after finish: Finish) -> Bool {
        guard !hasReplayed else { return false }
        // Over such a connection the request was not processed, so any method may be repeated.
        if isReplayPending || finish.isUnprocessed { return finish.isWanted }
        guard finish.hasFailed else { return false }
        let decision = ReplayDecision(
            mayReplay: mayReplay, wasReused: wasSent && finish.isConnectionKept,
            hasResponseBegun: finish.hasResponseBegun,
            isConnectionLost: finish.isConnectionLost, isWanted: finish.isWanted)
        return decision.shouldReplay
    }

    /// Whether the request could restart on another connection.
    func canMove(hasResponseBegun: Bool) -> Bool {
        mayReplay && usedSharedConnection && !hasReplayed && !hasResponseBegun
    }
}
