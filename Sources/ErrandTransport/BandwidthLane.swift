import ErrandHTTP
import Synchronization

/// One direction of a bandwidth limit: counts bytes, and calls those that wait for them.
final class BandwidthLane: Sendable {
    private struct State {
        var limit: Int64?
        var schedule: BandwidthSchedule
        var waiting: [UInt64: Wait] = [:]
        var lastWait: UInt64 = 0
    }

    private struct Wait {
        let resume: @Sendable () -> Void
        var timer: Task<Void, Never>?
    }

    let clock: any RequestClock
    /// The name of the limit in errors.
    private let name: String
    private let perform: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state: Mutex<State>

    /// - Parameter perform: Resumes transfers after a change of the limit. By default not on the thread of the caller,
    ///   as after a timer: a resumed transfer calls its receiver.
    init(
        _ name: String, bytesPerSecond: Int64?, clock: any RequestClock,
        perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { work in
            Task { work() }
        }
    ) {
        self.name = name
        self.clock = clock
        self.perform = perform
        state = Mutex(
            State(
                limit: bytesPerSecond, schedule: BandwidthSchedule(bytesPerSecond: bytesPerSecond)))
    }

    /// The number of bytes per second as it was set.
    var bytesPerSecond: Int64? {
        get { state.withLock { $0.limit } }
        set {
            let waiting = state.withLock { state in
                state.limit = newValue
                state.schedule.change(to: newValue)
                defer { state.waiting = [:] }
                return state.waiting.values
            }
            guard !waiting.isEmpty else { return }
            for wait in waiting { wait.timer?.cancel() }
            perform { for wait in waiting { wait.resume() } }
        }
    }

    /// Throws if no byte could ever be sent or received.
    func check() throws(RequestError) {
        guard let limit = bytesPerSecond, limit < 1 else { return }
        throw RequestError(
            .invalidConfiguration, stage: .build,
            "The \(name) of a BandwidthLimit is \(limit); it must be at least 1, or nil for no limit."
        )
    }

    /// Counts bytes before they are used.
    ///
    /// - Parameter resume: Called once, on any thread, when their time has come; not if the result is `nil`.
    /// - Returns: The wait, for ``forget(_:)``; `nil` if the bytes may be used at once.
    func count(_ bytes: Int, then resume: @escaping @Sendable () -> Void) -> UInt64? {
        let wait: (id: UInt64, duration: Duration)? = state.withLock { state in
            let now = clock.uptime
            guard let end = state.schedule.count(Int64(bytes), at: now) else { return nil }
            state.lastWait += 1
            state.waiting[state.lastWait] = Wait(resume: resume)
            return (state.lastWait, end - now)
        }
        guard let (id, duration) = wait else { return nil }
        let timer = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: duration)) != nil else { return }
            self?.take(id)?.resume()
        }
        let isWaiting = state.withLock { state in
            guard state.waiting[id] != nil else { return false }
            state.waiting[id]?.timer = timer
            return true
        }
        if !isWaiting { timer.cancel() }
        return id
    }

    /// Ends a wait without calling its closure.
    func forget(_ id: UInt64) { take(id)?.timer?.cancel() }

    private func take(_ id: UInt64) -> Wait? {
        state.withLock { $0.waiting.removeValue(forKey: id) }
    }
}
