/// Decides when a silent connection is checked with PING, and when it is dead.
///
/// A peer whose host is gone neither sends nor closes. While a request waits, the connection is
/// checked after a silence of five seconds, and a request that finds a connection after a silence of
/// 30 seconds is preceded by a check. A connection that is silent for five more seconds is dead. Any
/// input is a sign of life, not only the acknowledgement.
struct HealthCheck: Sendable, Hashable {
    /// The next action of the owner.
    enum Action: Sendable, Hashable {
        /// Nothing, until this time.
        case wait(until: MonotonicTime)
        /// Send a PING; then call ``HealthCheck/sent(at:)``.
        case ping
        /// The connection is dead.
        case close
    }

    private static let silence: UInt64 = 5_000_000_000
    private static let idleSilence: UInt64 = 30_000_000_000

    private var lastInput: MonotonicTime
    /// The time of the PING that waits for input.
    private var sent: MonotonicTime?

    /// Creates the state of a connection that has just been opened.
    init(at now: MonotonicTime) { lastInput = now }

    /// Whether a PING waits for input.
    var isPending: Bool { sent != nil }

    /// Records input of any kind.
    mutating func received(at now: MonotonicTime) {
        lastInput = now
        sent = nil
    }

    /// Records that a request waits, and none did before: the silence until now means nothing.
    mutating func beginsToWait(at now: MonotonicTime) {
        if sent == nil { lastInput = max(lastInput, now) }
    }

    /// Records that a PING was sent.
    mutating func sent(at now: MonotonicTime) { if sent == nil { sent = now } }

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
        let due = lastInput.advanced(nanoseconds: Self.silence)
        return due <= now ? .ping : .wait(until: due)
    }
}
