package import ErrandCore

/// Until when a transfer has to connect and to make progress.
package struct Deadlines: Sendable {
    /// What a look at the clock finds.
    package enum Verdict: Sendable, Hashable {
        case expired(RequestError.TimeoutKind)
        /// Look again then; ``MonotonicTime/never`` when nothing is limited.
        case next(MonotonicTime)
    }

    private var connectBy = MonotonicTime.never
    /// In nanoseconds.
    private var idleLimit: UInt64?
    /// When the last byte was sent or received.
    package private(set) var lastActivity = MonotonicTime.never
    private var isSuspended = false

    package init() {}

    /// An attempt begins.
    ///
    /// Until it is connected the limit of silence counts only if connecting has none.
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

    /// When to look for the first time.
    package var first: MonotonicTime { min(connectBy, silentUntil) }

    /// The connection is there and silence begins to count.
    package mutating func connected(at now: MonotonicTime) {
        connectBy = .never
        lastActivity = now
    }

    /// A byte was sent or received.
    package mutating func active(at now: MonotonicTime) { lastActivity = now }

    /// The receiver takes a break: silence is its own doing.
    package mutating func suspend() { isSuspended = true }

    /// The receiver goes on, and silence counts from now.
    package mutating func resume(at now: MonotonicTime) {
        isSuspended = false
        lastActivity = now
    }

    /// Whether nothing has come or gone for so long.
    package func isSilent(for duration: Duration, at now: MonotonicTime) -> Bool {
        lastActivity != .never && lastActivity.advanced(by: duration) <= now
    }

    /// Looks at the clock.
    package func check(at now: MonotonicTime) -> Verdict {
        if connectBy <= now { return .expired(.connect) }
        let silentUntil = silentUntil
        if silentUntil <= now { return .expired(.idle) }
        return .next(min(connectBy, silentUntil))
    }

    private var silentUntil: MonotonicTime {
        guard !isSuspended, let idleLimit, lastActivity != .never else { return .never }
        return lastActivity.advanced(nanoseconds: idleLimit)
    }
}
