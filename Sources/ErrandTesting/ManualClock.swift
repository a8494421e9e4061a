public import ErrandCore
public import Foundation

/// A clock that stands still until the test moves it: nothing waits for real time.
///
///     let clock = ManualClock()
///     …
///     try await clock.untilSleeping()      // the code under test has gone to sleep
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

    /// Makes a clock that stands at a date.
    ///
    /// - Parameter now: Default is 1 January 2030, 00:00 UTC.
    public init(now: Date = Date(timeIntervalSince1970: 1_893_456_000)) {
        state = Watched(State(now: now))
    }

    /// The date to which the clock was moved.
    public var now: Date { state.change { $0.now } }

    /// How far the clock was moved so far.
    public var uptime: Duration { state.change { $0.uptime } }

    /// How many are asleep.
    public var sleepers: Int { state.change { $0.sleepers.count } }

    /// Moves date and uptime forward and wakes whoever has slept enough, the earliest first.
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

    /// Moves only the date, as a user does who sets it; nobody wakes.
    public func setNow(_ date: Date) {
        state.change { $0.now = date }
    }

    /// Sleeps until the clock was moved so far; at once when the duration is not positive.
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

    /// Waits until so many are asleep.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func untilSleeping(_ count: Int = 1) async throws {
        try await state.wait { $0.sleepers.count >= count ? true : nil }
    }
}
