import Errand
import Synchronization

/// Runs endpoint classes with `await`, `inFlight` at a time.
func runAsync(_ job: Job, agent: RequestAgent, meter: inout Meter) async -> Int {
    guard job.inFlight > 1 else { return await runOneByOne(job, agent: agent, meter: &meter) }
    let counter = Counter()
    return await withTaskGroup(of: Int.self) { group in
        for _ in 0..<job.inFlight {
            group.addTask {
                var bad = 0
                while counter.next() < job.count {
                    bad += await send(job, agent)
                }
                return bad
            }
        }
        return await group.reduce(0, +)
    }
}

/// Returns increasing numbers from 0.
private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func next() -> Int { value.add(1, ordering: .relaxed).oldValue }
}

private func runOneByOne(_ job: Job, agent: RequestAgent, meter: inout Meter) async -> Int {
    var bad = 0
    for index in 1...job.count {
        bad += await send(job, agent)
        if [1000, 10_000, 100_000].contains(index) { meter.note(index) }
    }
    return bad
}

private func send(_ job: Job, _ agent: RequestAgent) async -> Int {
    if job.workload.hasPrefix("W3") {
        return await PageReader(job: job, agent: agent).read() ?? 0 > 10 ? 0 : 1
    }
    let response = try? await job.endpoint.send(on: agent)
    return response?.statusCode == 200 && response?.data.count == job.size ? 0 : 1
}

/// Runs endpoint classes with closures on the main actor, `inFlight` at a time.
@MainActor
final class ClosureRun {
    private let job: Job
    private let agent: RequestAgent
    private var started = 0
    private var finished = 0
    private var bad = 0
    private var done: CheckedContinuation<Int, Never>?

    init(_ job: Job, agent: RequestAgent) {
        self.job = job
        self.agent = agent
    }

    func run() async -> Int {
        await withCheckedContinuation { continuation in
            done = continuation
            for _ in 0..<job.inFlight { startNext() }
        }
    }

    private func startNext() {
        guard started < job.count else { return }
        started += 1
        job.endpoint.start(on: agent) { request in
            self.end(request.response?.data.count == self.job.size)
        } failure: { _, _ in
            self.end(false)
        }
    }

    private func end(_ isGood: Bool) {
        finished += 1
        if !isGood { bad += 1 }
        if finished == job.count {
            done?.resume(returning: bad)
            done = nil
        } else {
            startNext()
        }
    }
}
