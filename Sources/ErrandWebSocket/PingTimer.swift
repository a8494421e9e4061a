/// Decides when a PING is sent, and when the server counts as lost (RFC 6455 §5.5.2).
///
/// A PING is sent in each interval and the time until its PONG is the round trip. A server that cannot send PONG within
/// a large message shows by its bytes that it lives; only silence after a PING ends the connection. While the owner
/// reads nothing, silence has no meaning.
package struct PingTimer: Sendable, Hashable {
    /// The next action of the owner.
    package enum Action: Sendable, Hashable {
        /// Nothing, until this time; `nil` for never, without an interval.
        case wait(until: Duration?)
        /// Send a PING with this number; then call ``PingTimer/sent(at:)``.
        case ping(UInt64)
        /// The server is lost.
        case close
    }

    private let interval: Duration?
    private let timeout: Duration
    private var lastPing: Duration
    private var lastInput: Duration
    private var number: UInt64 = 0
    /// Whether the last PING has no PONG.
    private var isWaiting = false
    private var isReading = true

    /// Creates the timer of a connection that has just been opened; without an interval, it does nothing.
    package init(interval: Duration?, timeout: Duration, at now: Duration) {
        (self.interval, self.timeout) = (interval, timeout)
        (lastPing, lastInput) = (now, now)
    }

    /// Records input of any kind.
    package mutating func received(at now: Duration) { lastInput = now }

    /// Records that the owner stops or continues to read.
    package mutating func setReading(_ isReading: Bool, at now: Duration) {
        if isReading, !self.isReading { lastInput = now }
        self.isReading = isReading
    }

    /// Records that a PING was sent.
    package mutating func sent(at now: Duration) {
        number += 1
        isWaiting = true
        (lastPing, lastInput) = (now, now)
    }

    /// Records a PONG with a number; returns the round trip if it is the PONG of the last PING.
    package mutating func receivedPong(_ number: UInt64, at now: Duration) -> Duration? {
        // RFC 6455 §5.5.3: a PONG without a PING is ignored.
        guard isWaiting, number == self.number else { return nil }
        isWaiting = false
        return max(.zero, now - lastPing)
    }

    /// The next action at a time.
    package func check(at now: Duration) -> Action {
        guard let interval else { return .wait(until: nil) }
        let due = lastPing + interval
        if isWaiting {
            guard isReading else { return .wait(until: now + max(timeout, .seconds(1))) }
            let end = lastInput + timeout
            if end <= now { return .close }
            // The PONG may come before the next PING is due.
            return .wait(until: due > now ? min(due, end) : end)
        }
        return due <= now ? .ping(number + 1) : .wait(until: due)
    }
}
