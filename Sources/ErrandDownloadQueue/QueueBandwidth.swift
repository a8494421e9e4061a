import ErrandHTTP
import Synchronization

/// Holds all downloads of a queue while they have received more than their bandwidth allows.
final class QueueBandwidth: Sendable {
    /// The time until which the received bytes use the bandwidth; pure.
    struct Schedule: Sendable, Equatable {
        /// `nil` is no limit.
        var bytesPerSecond: Int64?
        private var paidUntil: Duration?

        /// Unused time up to this one is made up for, so that the delay of the next bytes does not count.
        static let credit = Duration.milliseconds(100)

        init(bytesPerSecond: Int64?) { self.bytesPerSecond = bytesPerSecond }

        mutating func received(_ bytes: Int64, at now: Duration) {
            guard let bytesPerSecond, bytesPerSecond > 0, bytes > 0 else { return }
            let start = max(paidUntil ?? now, now - Self.credit)
            paidUntil = start + .seconds(Double(bytes) / Double(bytesPerSecond))
        }

        /// The time until the next bytes may be received.
        func delay(at now: Duration) -> Duration {
            guard bytesPerSecond != nil, let paidUntil else { return .zero }
            return max(.zero, paidUntil - now)
        }
    }

    private struct State {
        var schedule: Schedule
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
        state = Mutex(State(schedule: Schedule(bytesPerSecond: bytesPerSecond)))
        self.clock = clock
        self.hold = hold
    }

    var isHolding: Bool { state.withLock { $0.isHolding } }

    func received(_ bytes: Int64) {
        let begins = state.withLock { state in
            state.schedule.received(bytes, at: clock.uptime)
            guard !state.isHolding, state.schedule.delay(at: clock.uptime) > .zero else {
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
            // Bytes that were received under the previous limit stay paid.
            state.schedule.bytesPerSecond = bytesPerSecond
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
