import Synchronization

/// How long one attempt may still take: a pure machine.
///
/// It counts while a transfer of the attempt is under way and nobody holds it. What an attempt waits for otherwise, such
/// as its host's rate limit, a place or new credentials, says nothing about the host.
package struct AttemptMeter: Sendable, Equatable {
    package private(set) var left: Duration
    private var isUnderWay = false
    private var runningSince: Duration?

    package init(_ limit: Duration) { left = limit }

    package var isRunning: Bool { runningSince != nil }

    /// A transfer begins or has ended; nobody is asked whether it is held.
    package mutating func transfer(isUnderWay: Bool, isHeld: Bool, now: Duration) {
        self.isUnderWay = isUnderWay
        settle(isHeld: isHeld, now: now)
    }

    /// The task was suspended, or goes on.
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

/// The limit of one attempt: cancels the attempt's scope when the time of its transfers is over.
package final class AttemptLimit: Sendable {
    private struct State {
        var meter: AttemptMeter
        var timer: Task<Void, Never>?
        /// Which timer counts: one that wakes up late must not.
        var round = 0
    }

    private let state: Mutex<State>
    private let clock: any RequestClock
    private let scope: CancellationScope
    private let pause: PauseGate

    init(
        _ limit: Duration, clock: any RequestClock, scope: CancellationScope, pause: PauseGate
    ) {
        state = Mutex(State(meter: AttemptMeter(limit)))
        self.clock = clock
        self.scope = scope
        self.pause = pause
    }

    /// A transfer of the attempt begins.
    func begin() {
        pause.meter(self)
        change { $0.transfer(isUnderWay: true, isHeld: $1, now: $2) }
    }

    /// The transfer has ended.
    func end() {
        pause.meter(nil)
        change { $0.transfer(isUnderWay: false, isHeld: $1, now: $2) }
    }

    /// The gate was closed or opened.
    func settle() {
        change { $0.settle(isHeld: $1, now: $2) }
    }

    private func change(_ change: (inout AttemptMeter, _ isHeld: Bool, _ now: Duration) -> Void) {
        // The gate is asked under the lock: whoever comes last sees what it is last, and the timer is started there
        // for the same reason.
        state.withLock { state in
            change(&state.meter, pause.isPaused, clock.uptime)
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
