import ErrandHTTP
import ErrandTransport
import Synchronization

/// Holds all downloads of a queue while they have received more than their bandwidth allows.
final class QueueBandwidth: Sendable {
    private struct State {
        var schedule: BandwidthSchedule
        /// Whether the downloads are to be held.
        var isHolding = false
        /// The value of the latest call of `hold`.
        var applied = false
        /// Whether a thread calls `hold`.
        var isApplying = false
        /// Ends the current delay after a change of the limit.
        var delay: Task<Void, Never>?
        var isStopped = false

        /// The next value for `hold`; `nil`, and the end of the calls, if the latest one is current.
        mutating func next() -> Bool? {
            guard applied != isHolding else {
                isApplying = false
                return nil
            }
            applied = isHolding
            return applied
        }
    }

    private let clock: any RequestClock
    private let state: Mutex<State>
    /// Suspends (true) or resumes all downloads.
    private let hold: @Sendable (Bool) -> Void

    init(
        bytesPerSecond: Int64?, clock: any RequestClock, hold: @escaping @Sendable (Bool) -> Void
    ) {
        state = Mutex(State(schedule: BandwidthSchedule(bytesPerSecond: bytesPerSecond)))
        self.clock = clock
        self.hold = hold
    }

    var isHolding: Bool { state.withLock { $0.isHolding } }

    func received(_ bytes: Int64) {
        let begins = state.withLock { state in
            guard state.schedule.count(bytes, at: clock.uptime) != nil, !state.isHolding else {
                return false
            }
            state.isHolding = true
            return true
        }
        guard begins else { return }
        apply()
        Task { await self.release() }
    }

    func set(bytesPerSecond: Int64?) {
        let delay = state.withLock { state in
            state.schedule.change(to: bytesPerSecond)
            return state.delay
        }
        delay?.cancel()
    }

    /// Ends the current delay and all later ones, because the queue does not exist any more.
    func stop() {
        let delay = state.withLock { state in
            state.isStopped = true
            return state.delay
        }
        delay?.cancel()
    }

    private func release() async {
        while true {
            let delay = state.withLock { state -> Task<Void, Never>? in
                let delay = state.schedule.delay(at: clock.uptime)
                guard delay > .zero, !state.isStopped else {
                    (state.isHolding, state.delay) = (false, nil)
                    return nil
                }
                let wait = Task<Void, Never> { [clock] in
                    try? await clock.sleep(for: delay)
                }
                state.delay = wait
                return wait
            }
            guard let delay else { break }
            await delay.value
        }
        apply()
    }

    /// Calls `hold` until the latest decision is applied, unless another thread does so.
    ///
    /// Only one thread calls it at a time, so that an earlier decision never takes effect after a later one.
    private func apply() {
        let begins = state.withLock { !exchange(&$0.isApplying, with: true) }
        guard begins else { return }
        while let isHeld = state.withLock({ $0.next() }) { hold(isHeld) }
    }
}
