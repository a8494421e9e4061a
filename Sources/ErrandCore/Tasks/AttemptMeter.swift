/// Measures the remaining time of one attempt, as a pure state machine.
///
/// Time counts while a transfer of the attempt runs and is not suspended. Waiting for a rate limit, a concurrency limit
/// or credentials does not count, because it says nothing about the host.
package struct AttemptMeter: Sendable, Equatable {
    package private(set) var left: Duration
    private var isUnderWay = false
    private var runningSince: Duration?

    package init(_ limit: Duration) { left = limit }

    package var isRunning: Bool { runningSince != nil }

    /// Records that a transfer begins or has ended.
    package mutating func transfer(isUnderWay: Bool, isHeld: Bool, now: Duration) {
        self.isUnderWay = isUnderWay
        settle(isHeld: isHeld, now: now)
    }

    /// Records that the task was suspended or resumed.
    package mutating func settle(isHeld: Bool, now: Duration) {
        let runs = isUnderWay && !isHeld
        if !runs, let since = runningSince {
            left = max(.zero, left - max(.zero, now - since))
            runningSince = nil
        } else if runs, runningSince == nil {
            runningSince = now
        }
    }
}
