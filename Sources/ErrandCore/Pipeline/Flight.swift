import Synchronization

/// One transfer with several passengers. Each waits for itself; the last to leave cancels it.
final class Flight: Sendable {
    typealias Landing = Result<Response, RequestError>

    private struct State {
        var passengers = 1
        var landing: Landing?
        var isAbandoned = false
        var task: Task<Void, Never>?
        var nextSeat = 0
        var waiters: [Int: CheckedContinuation<Landing, Never>] = [:]
    }

    private let state = Mutex(State())

    /// One more passenger; false when the flight is over.
    func board() -> Bool {
        state.withLock { state in
            guard state.landing == nil, !state.isAbandoned else { return false }
            state.passengers += 1
            return true
        }
    }

    /// The work whose end is ``land(_:)``.
    func depart(_ task: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// The one end: everybody who waits gets it.
    func land(_ landing: Landing) {
        let waiters = state.withLock { state in
            state.landing = landing
            state.task = nil
            defer { state.waiters = [:] }
            return state.waiters.values.map { $0 }
        }
        for waiter in waiters { waiter.resume(returning: landing) }
    }

    /// Waits for the end, or for the passenger's own cancellation.
    func wait() async -> Landing {
        let seat = state.withLock { state in
            state.nextSeat += 1
            return state.nextSeat
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Landing? in
                    if let landing = state.landing { return landing }
                    if Task.isCancelled { return .failure(.cancelled) }
                    state.waiters[seat] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: seat) }
            waiter?.resume(returning: .failure(.cancelled))
        }
    }

    /// A passenger is gone, whether served or not.
    func leave() {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.passengers -= 1
            guard state.passengers == 0, state.landing == nil else { return nil }
            state.isAbandoned = true
            return state.task
        }
        task?.cancel()
    }

    /// Ends the flight for all its passengers.
    func cancel() {
        let task = state.withLock { state in
            state.isAbandoned = true
            return state.task
        }
        task?.cancel()
    }
}
