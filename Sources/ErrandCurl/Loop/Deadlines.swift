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
    /// The time of the last byte sent or received.
    package private(set) var lastActivity = MonotonicTime.never
    private var isSuspended = false

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
    package var first: MonotonicTime { min(connectBy, idleDeadline) }

    /// Records that the connection is ready; the idle limit applies from now on.
    package mutating func connected(at now: MonotonicTime) {
        connectBy = .never
        lastActivity = now
    }

    /// Records that a byte was sent or received.
    package mutating func active(at now: MonotonicTime) { lastActivity = now }

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
        return .next(min(connectBy, idleDeadline))
    }

    private var idleDeadline: MonotonicTime {
        guard !isSuspended, let idleLimit, lastActivity != .never else { return .never }
        return lastActivity.advanced(nanoseconds: idleLimit)
    }
}
