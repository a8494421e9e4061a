import ErrandHTTP
import ErrandTransport
import Synchronization

/// Holds all downloads of a queue while they have received more than their bandwidth allows.
final class QueueBandwidth: Sendable {
    private struct State {
        var schedule: BandwidthSchedule
        var isHolding = false
        /// Ends the current delay after a change of the limit.
        var delay: Task<Void, Never>?
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
        hold(true)
        Task { await self.release() }
    }

    func set(bytesPerSecond: Int64?) {
        let delay = state.withLock { state in
            state.schedule.change(to: bytesPerSecond)
            return state.delay
        }
        delay?.cancel()
    }

    private func release() async {
        while true {
            let delay = state.withLock { state -> Task<Void, Never>? in
                let delay = state.schedule.delay(at: clock.uptime)
                guard delay > .zero else {
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
        hold(false)
    }
}
