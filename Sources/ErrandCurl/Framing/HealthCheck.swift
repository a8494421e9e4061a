/// Decides when a silent connection is checked with PING, and when it is dead.
///
/// A peer whose host is gone neither sends nor closes. While a request waits, the connection is
/// checked after a silence of five seconds, and a request that finds a connection after a silence of
/// 30 seconds is preceded by a check. A connection that is silent for five more seconds is dead. Any
/// input is a sign of life, not only the acknowledgement, and so are bytes that the peer's system
/// acknowledges: behind a slow upload, PING arrives late.
///
/// Servers end connections that send PING often without another reason: gRPC's allow two within five
/// minutes while they send nothing. An acknowledgement without other input therefore makes the silence
/// before the next PING longer, up to five minutes.
struct HealthCheck: Sendable, Hashable {
    /// The next action of the owner.
    enum Action: Sendable, Hashable {
        /// Nothing, until this time.
        case wait(until: MonotonicTime)
        /// Send a PING; then call ``HealthCheck/sent(at:acknowledged:)``.
        case ping
        /// The connection is dead, unless the owner finds input, or ``HealthCheck/goesOn(_:at:)``.
        case close
    }

    /// The silence before the first PING, and the longest time of a PING without input.
    private static let silence: UInt64 = 5_000_000_000
    private static let longestSilence: UInt64 = 300_000_000_000
    private static let idleSilence: UInt64 = 30_000_000_000

    private var lastInput: MonotonicTime
    /// The time from which on a request has waited for input.
    private var silentSince: MonotonicTime
    /// The silence before the next PING.
    private var interval = silence
    /// The time of the PING that waits for input, or of a later sign of life.
    private var sent: MonotonicTime?
    /// The bytes that the peer had acknowledged at that time; `nil` if that is unknown.
    private var acknowledged: UInt64?

    /// Creates the state of a connection that has just been opened.
    init(at now: MonotonicTime) { (lastInput, silentSince) = (now, now) }

    /// Whether a PING waits for input.
    var isPending: Bool { sent != nil }

    /// Records input of any kind.
    mutating func received(at now: MonotonicTime) {
        // The input may be the acknowledgement of a PING, which says nothing about the streams.
        if sent == nil { interval = Self.silence }
        (lastInput, silentSince) = (now, now)
        sent = nil
    }

    /// Records the acknowledgement of the last PING, after its input.
    mutating func pingAcknowledged() { interval = min(8 * interval, Self.longestSilence) }

    /// Records that a request begins.
    ///
    /// - Parameter isFirst: Whether no other request waits.
    mutating func requestBegan(at now: MonotonicTime, isFirst: Bool) {
        interval = Self.silence
        if isFirst { silentSince = now }
    }

    /// Records that a PING was sent.
    ///
    /// - Parameter acknowledged: The number of bytes that the peer has acknowledged; `nil` if it is unknown.
    mutating func sent(at now: MonotonicTime, acknowledged: UInt64? = nil) {
        guard sent == nil else { return }
        sent = now
        self.acknowledged = acknowledged
    }

    /// Whether a PING precedes a request that begins now.
    func isDueBeforeUse(at now: MonotonicTime) -> Bool {
        sent == nil && lastInput.advanced(nanoseconds: Self.idleSilence) <= now
    }

    /// Whether a PING is sent when a request times out, so that a dead connection is found.
    var isDueAtTimeout: Bool { sent == nil }

    /// The next action at a time.
    ///
    /// - Parameter isWaiting: Whether a request waits for input.
    func check(at now: MonotonicTime, isWaiting: Bool) -> Action {
        if let sent {
            let end = sent.advanced(nanoseconds: Self.silence)
            return end <= now ? .close : .wait(until: end)
        }
        guard isWaiting else { return .wait(until: .never) }
        let due = silentSince.advanced(nanoseconds: interval)
        return due <= now ? .ping : .wait(until: due)
    }

    /// Whether the peer has acknowledged bytes since the PING or since the last call, so that the connection is
    /// not dead yet.
    mutating func goesOn(_ queue: SendQueue, at now: MonotonicTime) -> Bool {
        guard let sent, let acknowledged, queue.acknowledged > acknowledged else { return false }
        self.acknowledged = queue.acknowledged
        let moment = max(sent, queue.lastAcknowledgement(at: now))
        self.sent = moment
        return moment.advanced(nanoseconds: Self.silence) > now
    }
}
