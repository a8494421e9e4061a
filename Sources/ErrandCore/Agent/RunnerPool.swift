import Synchronization

/// Swift tasks that do one job after the other, such as carrying a request out.
///
/// Making a Swift task for each request, and giving its memory back on another thread, costs a small request as much
/// as several steps do. So a few that have nothing to do are kept asleep, for as long as the pool.
final class RunnerPool<Job: Sendable>: Sendable {
    private let bench: RunnerBench<Job>
    private let work: @Sendable (Job) async -> Void

    /// - Parameters:
    ///   - limit: How many may be asleep at once.
    ///   - work: What is done with a job; it must not keep the pool's owner.
    init(limit: Int = 64, work: @escaping @Sendable (Job) async -> Void) {
        bench = RunnerBench(limit: limit)
        self.work = work
    }

    deinit { bench.close() }

    /// Has a job done, in a Swift task without the caller's task-local values; jobs begin in the order they come.
    func run(_ job: Job) {
        guard bench.add(job) else { return }
        Task.detached { [bench, work] in
            while await Self.serve(bench, work) {}
        }
    }

    // A function of its own: once asleep, a runner keeps nothing of its last job.
    private static func serve(
        _ bench: RunnerBench<Job>, _ work: @Sendable (Job) async -> Void
    ) async -> Bool {
        guard let job = await bench.next() else { return false }
        await work(job)
        return true
    }

    /// How many runners are asleep.
    var asleepCount: Int { bench.asleepCount }
}

/// Where runners sleep, and jobs wait for one that is on its way.
private final class RunnerBench<Job: Sendable>: Sendable {
    private struct State {
        var asleep: [UnsafeContinuation<Void, Never>] = []
        /// Those from `first` on, in the order they came.
        var waiting: [Job?] = []
        var first = 0
        var isClosed = false

        var isEmpty: Bool { first == waiting.count }

        mutating func takeWaiting() -> Job? {
            guard first < waiting.count else { return nil }
            defer {
                waiting[first] = nil
                first += 1
                if first == waiting.count || first > 1024 && first * 2 > waiting.count {
                    waiting.removeFirst(first)
                    first = 0
                }
            }
            return waiting[first]
        }
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var asleepCount: Int { state.withLock { $0.asleep.count } }

    /// Wakes a runner; true where all are busy and another one is needed.
    ///
    /// The wake-up carries nothing: the job waits here for whoever comes first.
    func add(_ job: Job) -> Bool {
        let runner = state.withLock { state in
            state.waiting.append(job)
            return state.asleep.popLast()
        }
        runner?.resume()
        return runner == nil
    }

    /// The next job; `nil` for a runner that is not needed any more.
    func next() async -> Job? {
        while true {
            let (job, isDone) = state.withLock { state in
                (state.takeWaiting(), state.isClosed || state.asleep.count >= limit)
            }
            if job != nil || isDone { return job }
            await withUnsafeContinuation { continuation in
                let sleeps = state.withLock { state in
                    let sleeps = state.isEmpty && !state.isClosed && state.asleep.count < limit
                    if sleeps { state.asleep.append(continuation) }
                    return sleeps
                }
                if !sleeps { continuation.resume() }
            }
        }
    }

    func close() {
        let asleep = state.withLock { state in
            state.isClosed = true
            defer { state.asleep = [] }
            return state.asleep
        }
        for runner in asleep { runner.resume() }
    }
}
