package import ErrandHTTP
import ErrandSystem
import Synchronization

/// A call at a later time, for time limits.
///
/// With the system's clock, one thread serves all calls. It is not a thread of the cooperative pool,
/// which hooks may block. Other clocks decide themselves, with `sleep(for:)`. The handler must return
/// quickly.
package final class ScheduledCall: Sendable {
    private enum Source {
        case timer(any DispatchSourceTimer)
        case sleep(Task<Void, Never>)
    }

    private static let queue = DispatchQueue(label: "errand.time-limits")

    private let source = Mutex<Source?>(nil)

    /// Calls the handler after the delay, unless the call is cancelled before.
    package init(
        after delay: Duration, _ clock: any RequestClock, _ handler: @escaping @Sendable () -> Void
    ) {
        // Timers are not Sendable, so this one is made and used under the lock.
        source.withLock { source in
            guard clock is SystemClock else {
                source = .sleep(
                    Task { if (try? await clock.sleep(for: delay)) != nil { handler() } })
                return
            }
            let timer = DispatchSource.makeTimerSource(flags: .strict, queue: Self.queue)
            timer.setEventHandler(handler: handler)
            let (seconds, attoseconds) = delay.clamped.components
            timer.schedule(
                deadline: .now() + .seconds(Int(seconds))
                    + .nanoseconds(Int(attoseconds / 1_000_000_000)),
                leeway: .nanoseconds(0))
            timer.activate()
            source = .timer(timer)
        }
    }

    /// Cancels the call, and releases its handler.
    package func cancel() {
        source.withLock { source in
            switch source.take() {
            case .timer(let timer): timer.cancel()
            case .sleep(let task): task.cancel()
            case nil: break
            }
        }
    }
}
