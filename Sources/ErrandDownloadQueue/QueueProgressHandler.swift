import ErrandCore
import ErrandHTTP
import Synchronization

/// A handler of the progress of a queue: called outside of all locks, one call at a time, with the newest value.
final class QueueProgressHandler: Sendable {
    private struct State {
        var throttle: ProgressThrottle
        /// The value of the next call.
        var pending: TransferProgress?
        /// Whether a thread calls the handler.
        var isCalling = false
        /// The value that is held back, and the call that delivers it when it is due.
        var heldBack: (progress: TransferProgress, timer: ScheduledCall)?

        /// The value of the next call; `nil`, and the end of the calls, if there is none.
        mutating func next() -> TransferProgress? {
            if pending == nil { isCalling = false }
            return pending.take()
        }
    }

    private let state: Mutex<State>
    private let clock: any RequestClock
    private let handler: @Sendable (TransferProgress) -> Void

    init(
        every interval: Duration, bytes: Int64?, _ clock: any RequestClock,
        _ handler: @escaping @Sendable (TransferProgress) -> Void
    ) {
        self.clock = clock
        state = Mutex(State(throttle: ProgressThrottle(every: interval, bytes: bytes)))
        self.handler = handler
    }

    /// Offers a value; under the queue's lock, so that values have the order of the changes.
    ///
    /// - Parameter isLast: Whether no other value may follow soon, so that this one must be delivered.
    /// - Returns: Whether ``call()`` must follow, without the lock.
    func offer(_ progress: TransferProgress, at now: Duration, isLast: Bool) -> Bool {
        state.withLock { state in
            guard state.throttle.hasNotDelivered(progress) else { return false }
            if isLast {
                // A new throttle delivers its first value.
                state.throttle = ProgressThrottle(
                    every: state.throttle.interval, bytes: state.throttle.bytes)
            }
            guard state.throttle.offer(progress, now: now) else {
                holdBack(progress, at: now, &state)
                return false
            }
            state.pending = progress
            state.heldBack.take()?.timer.cancel()
            return true
        }
    }

    /// Keeps a value until it is due, because no later value may follow soon.
    private func holdBack(
        _ progress: TransferProgress, at now: Duration, _ state: inout State
    ) {
        guard let pause = state.throttle.pause(of: progress, at: now) else { return }
        let timer =
            state.heldBack?.timer
            ?? ScheduledCall(after: pause, clock) { [weak self] in self?.deliverHeldBack() }
        state.heldBack = (progress, timer)
    }

    private func deliverHeldBack() {
        let isDue = state.withLock { state in
            guard let progress = state.heldBack.take()?.progress,
                state.throttle.hasNotDelivered(progress), state.pending == nil
            else { return false }
            guard state.throttle.offer(progress, now: clock.uptime) else {
                holdBack(progress, at: clock.uptime, &state)
                return false
            }
            state.pending = progress
            return true
        }
        // Handlers do not run on the thread of time limits.
        if isDue { ListenerQueue.run { self.call() } }
    }

    /// Calls the handler until no value is pending, unless another thread does so.
    func call() {
        let begins = state.withLock { !exchange(&$0.isCalling, with: true) }
        guard begins else { return }
        while let progress = state.withLock({ $0.next() }) { handler(progress) }
    }
}
