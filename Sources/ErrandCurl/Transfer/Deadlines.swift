import ErrandSystem
package import ErrandTransport

/// The connect and idle deadlines of a transfer attempt.
package struct Deadlines: Sendable {
    /// The result of a check against the clock.
    package enum CheckResult: Sendable, Hashable {
        case expired(RequestError.TimeoutKind)
        /// The time of the next check; ``MonotonicTime/never`` if no limit is set.
        case next(MonotonicTime)
    }

    private var connectBy = MonotonicTime.never
    /// In nanoseconds.
    private var idleLimit: UInt64?
    /// The time of the last byte sent, acknowledged or received.
    package private(set) var lastActivity = MonotonicTime.never
    private var isSuspended = false
    private var acknowledgements = AcknowledgementWatch()
    /// Whether the transfer has sent a part of its body, whose acknowledgements are observed.
    private var hasSent = false
    private var lastObservation = MonotonicTime(nanoseconds: 0)

    package init() {}

    /// Starts the deadlines of an attempt.
    ///
    /// Until the attempt is connected, the idle limit applies only if there is no connect limit.
    package init(_ timeouts: Timeouts, startingAt now: MonotonicTime) {
        if let idle = timeouts.idle {
            idleLimit = MonotonicTime(nanoseconds: 0).advanced(by: idle).nanoseconds
        }
        if let connect = timeouts.connect {
            connectBy = now.advanced(by: connect)
        } else {
            lastActivity = now
        }
    }

    /// The time of the first check.
    package var first: MonotonicTime { min(connectBy, idleDeadline, nextObservation) }

    /// Records that the connection is ready; the idle limit applies from now on.
    package mutating func connected(at now: MonotonicTime) {
        connectBy = .never
        lastActivity = now
    }

    /// Records that a byte was received.
    package mutating func active(at now: MonotonicTime) { lastActivity = now }

    /// Records that the system has accepted bytes of the body.
    package mutating func sent(at now: MonotonicTime) {
        lastActivity = now
        hasSent = true
        acknowledgements.sent()
    }

    /// Suspends the idle limit while the receiver pauses.
    package mutating func suspend() { isSuspended = true }

    /// Restarts the idle limit from now, after the receiver resumed.
    package mutating func resume(at now: MonotonicTime) {
        isSuspended = false
        lastActivity = now
    }

    /// Whether no byte was sent or received for a duration.
    package func isIdle(for duration: Duration, at now: MonotonicTime) -> Bool {
        lastActivity != .never && lastActivity.advanced(by: duration) <= now
    }

    /// Checks the deadlines against a time.
    package func check(at now: MonotonicTime) -> CheckResult {
        if connectBy <= now { return .expired(.connect) }
        let idleDeadline = idleDeadline
        if idleDeadline <= now { return .expired(.idle) }
        return .next(min(connectBy, idleDeadline, nextObservation))
    }

    /// Checks the deadlines against a time, after a look at the send queue if one is due.
    ///
    /// - Parameter queue: Returns the send queue of the connection; `nil` if it is unknown.
    mutating func check(at now: MonotonicTime, queue: () -> SendQueue?) -> CheckResult {
        if nextObservation <= now || idleDeadline <= now {
            lastObservation = now
            if acknowledgements.isPending, let queue = queue(),
                let moment = acknowledgements.observe(queue, at: now)
            {
                lastActivity = max(lastActivity, moment)
            }
        }
        return check(at: now)
    }

    /// Moves an expired idle deadline if the receiver has not been waiting for the whole limit.
    ///
    /// - Parameter waitingTime: ``TransferReceiver/waitingTime``.
    /// - Returns: The time of the next check; `nil` if the deadline has expired.
    package mutating func postponeIdle(waitingTime: Duration?, at now: MonotonicTime)
        -> MonotonicTime?
    {
        let waiting = waitingTime.map { MonotonicTime(nanoseconds: 0).advanced(by: $0).nanoseconds }
        let begin = now.nanoseconds - min(now.nanoseconds, waiting ?? 0)
        guard begin > lastActivity.nanoseconds else { return nil }
        lastActivity = MonotonicTime(nanoseconds: begin)
        guard case .next(let moment) = check(at: now) else { return nil }
        return moment
    }

    private var idleDeadline: MonotonicTime {
        guard !isSuspended, let idleLimit, lastActivity != .never else { return .never }
        return lastActivity.advanced(nanoseconds: idleLimit)
    }

    /// The time of the next look at the send queue: a quarter of the limit after the last one, so that
    /// a peer that stops to acknowledge is found soon after the limit.
    private var nextObservation: MonotonicTime {
        guard hasSent, !isSuspended, let idleLimit, lastActivity != .never else { return .never }
        return max(lastActivity, lastObservation).advanced(nanoseconds: max(1, idleLimit / 4))
    }
}
