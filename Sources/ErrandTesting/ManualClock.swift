public import ErrandCore
public import ErrandSystem

/// A clock that advances only when the test advances it, so that tests do not wait for real time.
///
///     let clock = ManualClock()
///     …
///     try await clock.untilSleeping()      // the code under test is sleeping
///     clock.advance(by: .seconds(5))
public final class ManualClock: RequestClock {
    private struct Sleeper: Sendable {
        var deadline: Duration
        var wake: @Sendable ((any Error)?) -> Void
    }

    private struct State: Sendable {
        var now: Date
        var uptime = Duration.zero
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Watched<State>

    /// Creates a clock with an initial date.
    ///
    /// - Parameter now: The initial date. Default 1 January 2030, 00:00 UTC.
    public init(now: Date = Date(timeIntervalSince1970: 1_893_456_000)) {
        state = Watched(State(now: now))
    }

    /// The current date of the clock.
    public var now: Date { state.change { $0.now } }

    /// The sum of all advances.
    public var uptime: Duration { state.change { $0.uptime } }

    /// The number of sleeping tasks.
    public var sleepers: Int { state.change { $0.sleepers.count } }

    /// Advances date and uptime, and wakes the tasks whose deadline is reached, the earliest first.
    public func advance(by duration: Duration) {
        let due = state.change { state in
            state.uptime += duration
            state.now += duration / .seconds(1)
            let due = state.sleepers.filter { $0.value.deadline <= state.uptime }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in due { sleeper.wake(nil) }
    }

    /// Changes only the date, like a change of the system clock.
    ///
    /// Sleeping tasks are not woken.
    public func setNow(_ date: Date) {
        state.change { $0.now = date }
    }

    /// Sleeps until the clock has advanced by the duration.
    ///
    /// Returns at once if the duration is not positive.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        let id = state.change { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let wasCancelled = state.change { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.sleepers[id] = Sleeper(deadline: state.uptime + duration) { error in
                        if let error {
                            continuation.resume(throwing: error)
                        } else {
                            continuation.resume()
                        }
                    }
                    return false
                }
                if wasCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.change { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.wake(CancellationError())
        }
    }

    /// Waits until tasks are sleeping.
    ///
    /// - Parameter count: The number of sleeping tasks to wait for. Default 1.
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func untilSleeping(_ count: Int = 1) async throws {
        try await state.wait { $0.sleepers.count >= count ? true : nil }
    }
}
