import Dispatch
import ErrandCore
import Synchronization

/// A timer that ends a transfer by its deadlines, exact to the millisecond.
///
/// It is set to the earliest deadline and looks again when it fires, so that activity costs no timer.
final class DeadlineWatch: Sendable {
    private struct State {
        var deadlines: TransferDeadlines
        var timer: (any DispatchSourceTimer)?
        var isStopped = false
    }

    private static let queue = DispatchQueue(label: "errand.urlsession.deadlines")

    private let state: Mutex<State>
    private let started = ContinuousClock.now
    private let url: URI
    private let timeouts: Timeouts

    init(_ timeouts: Timeouts, url: URI) {
        self.timeouts = timeouts
        self.url = url
        state = Mutex(State(deadlines: TransferDeadlines(timeouts, start: .zero)))
    }

    /// Begins to count, and calls once when a limit is reached.
    func start(_ expired: @escaping @Sendable (RequestError.TimeoutKind) -> Void) {
        guard timeouts.connect != nil || timeouts.idle != nil else { return }
        let now = elapsed
        // Timers are not Sendable: this one lives behind the lock from its beginning to its end.
        state.withLock { state in
            guard !state.isStopped, state.timer == nil else { return }
            let timer = DispatchSource.makeTimerSource(flags: .strict, queue: Self.queue)
            timer.setEventHandler { [weak self] in self?.look(expired) }
            state.deadlines = TransferDeadlines(timeouts, start: now)
            if case .wait(let duration) = state.deadlines.verdict(at: now) {
                Self.schedule(timer, duration)
            }
            timer.activate()
            state.timer = timer
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
            state.timer?.cancel()
            state.timer = nil
        }
    }

    private var elapsed: Duration { started.duration(to: .now) }

    private static func schedule(_ timer: any DispatchSourceTimer, _ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        // Rounded up: a timer that fires early would only fire again.
        let nanoseconds = min(seconds, 1 << 30) * 1_000_000_000 + attoseconds / 1_000_000_000 + 1
        timer.schedule(
            deadline: .now() + .nanoseconds(Int(clamping: nanoseconds)), leeway: .nanoseconds(0))
    }

    private static let probes = DispatchQueue(
        label: "errand.urlsession.probes", attributes: .concurrent)

    private static func rest(_ verdict: TransferDeadlines.Verdict) -> Duration {
        if case .wait(let duration) = verdict { max(duration, .seconds(1)) } else { .seconds(1) }
    }

    /// Ends the transfer if one of these connections, which are not there yet, is its own; otherwise looks again.
    private func judge(
        _ candidates: [ConnectionProbe.Candidate],
        _ expired: @escaping @Sendable (RequestError.TimeoutKind) -> Void
    ) {
        let isConnecting = ConnectionProbe.leads(
            candidates, to: ConnectionPeer.all(of: url))
        let hasHeard = state.withLock { $0.deadlines.hasHeard }
        if isConnecting, !hasHeard { return expired(.connect) }
        Self.queue.async { [weak self] in self?.look(expired) }
    }

    private func look(_ expired: @escaping @Sendable (RequestError.TimeoutKind) -> Void) {
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
                // Looking up names may take its time; the other limits wait for it, but not for ever.
                Self.probes.async { [weak self] in self?.judge(candidates, expired) }
                verdict = .wait(Self.rest(verdict))
            }
        }
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
