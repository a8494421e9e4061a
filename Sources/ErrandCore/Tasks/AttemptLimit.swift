import Synchronization

/// Cancels the scope of an attempt when the time for its transfers has elapsed.
package final class AttemptLimit: Sendable {
    private struct State {
        var meter: AttemptMeter
        var timer: Task<Void, Never>?
        /// The number of transfers; a download can have several.
        var transfers = 0
        /// The number of the current timer; an earlier timer that fires late has no effect.
        var round = 0
    }

    private let state: Mutex<State>
    private let clock: any RequestClock
    private let scope: CancellationScope
    private let task: RequestTask

    package init(
        _ limit: Duration, clock: any RequestClock, scope: CancellationScope, of task: RequestTask
    ) {
        state = Mutex(State(meter: AttemptMeter(limit)))
        self.clock = clock
        self.scope = scope
        self.task = task
    }

    /// Starts counting: a transfer of the attempt begins.
    func begin() {
        task.pause.meter(self)
        state.withLock { $0.transfers += 1 }
        change { $0.transfer(isUnderWay: true, isHeld: $1, now: $2) }
    }

    /// Stops counting: the transfer has ended.
    func end() {
        let isLast = state.withLock { state in
            state.transfers -= 1
            return state.transfers <= 0
        }
        guard isLast else { return }
        task.pause.meter(nil)
        change { $0.transfer(isUnderWay: false, isHeld: $1, now: $2) }
    }

    /// Stops or resumes counting after the task was suspended or resumed.
    func settle() { change { $0.settle(isHeld: $1, now: $2) } }

    private func change(_ change: (inout AttemptMeter, _ isHeld: Bool, _ now: Duration) -> Void) {
        // The suspension is read, and the timer is started, under the lock, so that the last of several concurrent
        // calls uses the current state.
        state.withLock { state in
            change(&state.meter, task.pause.isPaused, clock.uptime)
            guard state.meter.isRunning != (state.timer != nil) else { return }
            state.round += 1
            state.timer?.cancel()
            state.timer = state.meter.isRunning ? timer(state.meter.left, state.round) : nil
        }
    }

    private func timer(_ left: Duration, _ round: Int) -> Task<Void, Never> {
        Task { [clock, weak self] in
            guard (try? await clock.sleep(for: left)) != nil else { return }
            self?.expire(round)
        }
    }

    private func expire(_ round: Int) {
        let isOver = state.withLock { $0.round == round && $0.meter.isRunning }
        if isOver { scope.cancel(.tooLate) }
    }
}

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
