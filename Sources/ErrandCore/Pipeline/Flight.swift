import Synchronization

/// One transfer with several passengers.
///
/// Each waits for itself; the last to leave cancels it.
final class Flight: Sendable {
    typealias Landing = Result<Response, RequestError>

    /// The work whose end is ``land(_:)``, and how it is cancelled.
    struct Transfer: Sendable {
        let work: Task<Void, Never>
        let context: TaskContext
    }

    private struct State {
        /// Who is on board, by seat: the lower, the longer.
        var passengers: [Int: TaskContext] = [:]
        /// In whose name the transfer's events are told.
        var teller: TaskContext
        var landing: Landing?
        var isAbandoned = false
        var transfer: Transfer?
        var nextSeat = 0
        var stage = TaskStage.waiting
        var waiters: [Int: CheckedContinuation<Landing, Never>] = [:]

        /// What those on board want of the transfer.
        var course: FlightCourse {
            FlightCourse(
                of: passengers.values.lazy.map {
                    FlightCourse.Wish(isPaused: $0.pause.isPaused, priority: $0.priority)
                })
        }
    }

    /// The seat of whoever began the flight.
    static let leaderSeat = 0

    private let state: Mutex<State>
    /// The transfer's own gate: closed while every passenger is suspended.
    let pause = PauseGate()
    /// The transfer's own progress, passed on to every passenger.
    let progress = ProgressHub()

    /// The cookies that its first request shows; `nil` without any.
    let cookies: String?

    /// Makes a flight with its leader on board, so that others cannot end it by leaving before he boards.
    init(leader: TaskContext, cookies: String? = nil) {
        self.cookies = cookies
        state = Mutex(State(passengers: [Self.leaderSeat: leader], teller: leader))
        welcome(leader, in: Self.leaderSeat)
    }

    /// Whether nobody can board any more.
    var isOver: Bool { state.withLock { $0.landing != nil || $0.isAbandoned } }

    /// In whose name the transfer's events are told: who has been on board for longest.
    var teller: TaskContext { state.withLock { $0.teller } }

    /// One more passenger; `nil` when the flight is over.
    func board(_ passenger: TaskContext) -> Int? {
        let seat = state.withLock { state -> Int? in
            guard state.landing == nil, !state.isAbandoned else { return nil }
            state.nextSeat += 1
            state.passengers[state.nextSeat] = passenger
            return state.nextSeat
        }
        guard let seat else { return nil }
        welcome(passenger, in: seat)
        return seat
    }

    /// Takes the transfer that everybody waits for.
    func depart(_ transfer: Transfer) {
        let isAbandoned = state.withLock { state in
            // It may have landed already; what has ended needs no cancelling.
            if state.landing == nil { state.transfer = transfer }
            return state.isAbandoned
        }
        if isAbandoned { transfer.context.scope.cancel() }
        settle()
    }

    /// The transfer goes on to another stage, and everybody on board with it.
    func enter(_ stage: TaskStage) {
        let passengers = state.withLock { state in
            state.stage = stage
            return Array(state.passengers.values)
        }
        for passenger in passengers { passenger.enter(stage) }
    }

    /// The one end: everybody who waits gets it.
    func land(_ landing: Landing) {
        let waiters = state.withLock { state in
            state.landing = landing
            state.transfer = nil
            defer { state.waiters = [:] }
            return state.waiters.values.map { $0 }
        }
        for waiter in waiters { waiter.resume(returning: landing) }
    }

    /// Waits for the end, or for the passenger's own cancellation.
    func wait(in seat: Int, _ scope: CancellationScope) async -> Landing {
        await scope.wait {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Landing? in
                    if let landing = state.landing { return landing }
                    if scope.isCancelled { return .failure(.cancelled) }
                    state.waiters[seat] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiters.removeValue(forKey: seat) }
            waiter?.resume(returning: .failure(.cancelled))
        }
    }

    /// Waits for the end from outside, on board or not: nobody stays on board for it.
    func watch(_ scope: CancellationScope) async {
        let place = state.withLock { state -> Int in
            state.nextSeat += 1
            return state.nextSeat
        }
        _ = await wait(in: place, scope)
    }

    /// A passenger is gone, whether served or not; returns the transfer that was cancelled for want of others.
    @discardableResult
    func leave(_ seat: Int) -> Task<Void, Never>? {
        let (passenger, transfer) = state.withLock { state -> (TaskContext?, Transfer?) in
            let passenger = state.passengers.removeValue(forKey: seat)
            // Behind the landing nothing moves: what is still to be told is told to whom it was told so far.
            if state.landing == nil, let seat = state.passengers.keys.min(),
                let oldest = state.passengers[seat]
            {
                state.teller = oldest
            }
            guard state.passengers.isEmpty, state.landing == nil else { return (passenger, nil) }
            state.isAbandoned = true
            return (passenger, state.transfer)
        }
        passenger?.pause.watch(nil)
        passenger?.watchPriority(nil)
        progress.endMirror(seat)
        transfer?.context.scope.cancel()
        settle()
        return transfer?.work
    }

    /// Ends the flight for all its passengers.
    func cancel() {
        let transfer = state.withLock { state in
            state.isAbandoned = true
            return state.transfer
        }
        transfer?.context.scope.cancel()
    }

    private func welcome(_ passenger: TaskContext, in seat: Int) {
        progress.mirror(into: passenger.progress, id: seat)
        passenger.enter(state.withLock { $0.stage })
        passenger.pause.watch { [weak self] in self?.settle() }
        passenger.watchPriority { [weak self] in self?.settle() }
        settle()
    }

    /// Holds the transfer, or lets it go on, and makes it as urgent as those on board would have it.
    ///
    /// Runs until it finds nothing to do: whoever changes something last looks again after acting, so two who
    /// come at once cannot leave the transfer as the earlier one wanted it.
    private func settle() {
        while true {
            let (course, transfer) = state.withLock { ($0.course, $0.transfer) }
            var hasChanged = course.isPaused ? pause.pause() : pause.open()
            if let priority = course.priority, let context = transfer?.context,
                context.priority != priority
            {
                context.priority = priority
                hasChanged = true
            }
            guard hasChanged else { return }
        }
    }
}
