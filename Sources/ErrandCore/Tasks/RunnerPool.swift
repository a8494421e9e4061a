import Synchronization

/// A pool of Swift tasks that perform one job after another, such as running a request.
///
/// Creating a Swift task per request, and freeing its memory on another thread, costs a small
/// request as much as several steps. The pool therefore keeps some idle tasks suspended.
final class RunnerPool<Job: Sendable>: Sendable {
    private let pool: RunnerPoolState<Job>
    private let work: @Sendable (Job) async -> Void

    /// - Parameters:
    ///   - limit: The maximum number of suspended runners.
    ///   - work: Performs a job; it must not retain the pool's owner.
    init(limit: Int = 64, work: @escaping @Sendable (Job) async -> Void) {
        pool = RunnerPoolState(limit: limit)
        self.work = work
    }

    deinit { pool.close() }

    /// Performs a job in a Swift task without the caller's task-local values; jobs start in order.
    func run(_ job: Job) {
        guard pool.add(job) else { return }
        Task.detached { [pool, work] in
            while await Self.serve(pool, work) {}
        }
    }

    // A separate function: a suspended runner retains nothing of its last job.
    private static func serve(
        _ pool: RunnerPoolState<Job>, _ work: @Sendable (Job) async -> Void
    ) async -> Bool {
        guard let job = await pool.next() else { return false }
        await work(job)
        return true
    }

    /// The number of suspended runners.
    var suspendedCount: Int { pool.suspendedCount }
}

/// The suspended runners, and the jobs that wait for a runner.
private final class RunnerPoolState<Job: Sendable>: Sendable {
    private struct State {
        var suspended: [UnsafeContinuation<Void, Never>] = []
        /// The waiting jobs from index `first` on, in order of arrival.
        var waiting: [Job?] = []
        var first = 0
        var isClosed = false

        var isEmpty: Bool { first == waiting.count }

        mutating func takeWaiting() -> Job? {
            guard first < waiting.count else { return nil }
            defer {
                first += 1
                if first == waiting.count || first > 1024 && first * 2 > waiting.count {
                    waiting.removeFirst(first)
                    first = 0
                }
            }
            return waiting[first].take()
        }
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var suspendedCount: Int { state.withLock { $0.suspended.count } }

    /// Adds a job and wakes a runner; true if none is suspended and the caller must start one.
    ///
    /// The wake-up carries no job: the first runner that asks takes it.
    func add(_ job: Job) -> Bool {
        let runner = state.withLock { state in
            state.waiting.append(job)
            return state.suspended.popLast()
        }
        runner?.resume()
        return runner == nil
    }

    /// The next job; `nil` ends the runner.
    func next() async -> Job? {
        while true {
            let (job, isDone) = state.withLock { state in
                (state.takeWaiting(), state.isClosed || state.suspended.count >= limit)
            }
            if job != nil || isDone { return job }
            await withUnsafeContinuation { continuation in
                let suspends = state.withLock { state in
                    let suspends = state.isEmpty && !state.isClosed && state.suspended.count < limit
                    if suspends { state.suspended.append(continuation) }
                    return suspends
                }
                if !suspends { continuation.resume() }
            }
        }
    }

    func close() {
        let suspended = state.withLock { state in
            state.isClosed = true
            defer { state.suspended = [] }
            return state.suspended
        }
        for runner in suspended { runner.resume() }
    }
}
