import ErrandHTTP
import ErrandSystem
import ErrandTransport
import Synchronization

/// A timer that applies a transfer's deadlines, with millisecond precision.
///
/// The timer is set to the earliest deadline and checks again when it fires, so activity does not reset it.
final class DeadlineWatch: Sendable {
    private struct State {
        var deadlines: TransferDeadlines
        var timer: (any DispatchSourceTimer)?
        /// Whether the timer is that of ``startWaiting(_:)``.
        var isWaiting = false
        var isStopped = false
        var waitingTime: (@Sendable () -> Duration?)?
    }

    private static let queue = DispatchQueue(label: "errand.urlsession.deadlines")

    private let state: Mutex<State>
    private let started = ContinuousClock.now
    private let url: HTTPURL
    private let timeouts: Timeouts

    init(_ timeouts: Timeouts, url: HTTPURL) {
        self.timeouts = timeouts
        self.url = url
        state = Mutex(State(deadlines: TransferDeadlines(timeouts, start: .zero)))
    }

    /// Starts the connect limit of a transfer that waits for a connection; ``start(waitingTime:_:)`` replaces it.
    ///
    /// - Parameter expired: Called if the transfer still waits at the limit.
    func startWaiting(_ expired: @escaping @Sendable () -> Void) {
        guard let limit = timeouts.connect else { return }
        let now = elapsed
        state.withLock { state in
            // Another thread may have admitted the transfer.
            guard !state.isStopped, state.timer == nil else { return }
            state.isWaiting = true
            state.timer = Self.timer(after: max(.zero, limit - now)) { [weak self] in
                if self?.state.withLock({ $0.isWaiting && !$0.isStopped }) == true { expired() }
            }
        }
    }

    /// Starts the timeouts.
    ///
    /// - Parameters:
    ///   - waitingTime: ``TransferReceiver/waitingTime`` of the receiver.
    ///   - expired: Called once, when the first of them is reached.
    func start(
        waitingTime: @escaping @Sendable () -> Duration?,
        _ expired: @escaping @Sendable (RequestError.TimeoutKind) -> Void
    ) {
        guard timeouts.connect != nil || timeouts.idle != nil else { return }
        let now = elapsed
        // Timers are not Sendable, so this one is only used under the lock.
        state.withLock { state in
            guard !state.isStopped, state.timer == nil || state.isWaiting else { return }
            state.timer?.cancel()
            state.isWaiting = false
            // The connect limit counts from the start of the transfer, also while it has waited.
            state.deadlines = TransferDeadlines(timeouts, start: now, connectStart: .zero)
            state.waitingTime = waitingTime
            let duration: Duration? =
                if case .wait(let duration) = state.deadlines.verdict(at: now) { duration } else {
                    nil
                }
            state.timer = Self.timer(after: duration) { [weak self] in self?.check(expired) }
        }
    }

    func active(fromServer: Bool) {
        let now = elapsed
        state.withLock { $0.deadlines.active(at: now, fromServer: fromServer) }
    }

    func setPaused(_ isPaused: Bool) {
        let now = elapsed
        state.withLock { $0.deadlines.setPaused(isPaused, at: now) }
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.waitingTime = nil
            state.timer?.cancel()
            state.timer = nil
        }
    }

    private var elapsed: Duration { started.duration(to: .now) }

    /// An active timer; without a duration it never fires.
    private static func timer(
        after duration: Duration?, _ handler: @escaping @Sendable () -> Void
    ) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler(handler: handler)
        if let duration { schedule(timer, duration) }
        timer.activate()
        return timer
    }

    private static func schedule(_ timer: any DispatchSourceTimer, _ duration: Duration) {
        // Rounded up, because a timer that fires early must be set again.
        let nanoseconds = duration.clamped.wholeNanoseconds + 1
        timer.schedule(
            deadline: .now() + .nanoseconds(Int(clamping: nanoseconds)), leeway: .nanoseconds(0))
    }

    private static let probes = DispatchQueue(
        label: "errand.urlsession.probes", attributes: .concurrent)

    private static func delay(after verdict: TransferDeadlines.Verdict) -> Duration {
        if case .wait(let duration) = verdict { max(duration, .seconds(1)) } else { .seconds(1) }
    }

    /// Ends the transfer if one of the candidates connects to its peers; otherwise checks again.
    private func resolve(
        _ candidates: [ConnectionProbe.Candidate],
        _ expired: @escaping @Sendable (RequestError.TimeoutKind) -> Void
    ) {
        let isConnecting = ConnectionProbe.isConnecting(
            candidates, to: ConnectionPeer.all(of: url))
        let hasServerActivity = state.withLock { $0.deadlines.hasServerActivity }
        if isConnecting, !hasServerActivity { return expired(.connect) }
        Self.queue.async { [weak self] in self?.check(expired) }
    }

    /// The verdict after the idle timeout, which counts only while the receiver waits.
    private func postponed(at now: Duration) -> TransferDeadlines.Verdict {
        // The receiver is asked outside the lock.
        let waitingTime = state.withLock { $0.waitingTime }?()
        return state.withLock { state in
            state.deadlines.postponeIdle(waitingTime: waitingTime, at: now)
                ? state.deadlines.verdict(at: now) : .expired(.idle)
        }
    }

    private func check(_ expired: @escaping @Sendable (RequestError.TimeoutKind) -> Void) {
        var now = elapsed
        var verdict = state.withLock { $0.deadlines.verdict(at: now) }
        if case .isConnecting = verdict {
            let candidates = ConnectionProbe.connecting(
                toPortsOf: ConnectionPeer.all(of: url))
            now = elapsed
            verdict = state.withLock { state in
                state.deadlines.connected()
                return state.deadlines.verdict(at: now)
            }
            if !candidates.isEmpty {
                // A DNS lookup can block, so it has its own queue. The idle timeout stays active.
                Self.probes.async { [weak self] in self?.resolve(candidates, expired) }
                verdict = .wait(Self.delay(after: verdict))
            }
        }
        if verdict == .expired(.idle) { verdict = postponed(at: now) }
        switch verdict {
        case .wait(let duration):
            state.withLock { state in
                if let timer = state.timer { Self.schedule(timer, duration) }
            }
        case .expired(let kind): expired(kind)
        case .never, .isConnecting: break
        }
    }
}
