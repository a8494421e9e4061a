import Foundation

/// Runs jobs round-robin and reports the median speed of each.
struct Measure {
    let bytes: Int
    let rounds: Int
    let secondsEach: Double
    private var jobs: [(name: String, run: () -> Void)] = []

    init(bytes: Int, rounds: Int, secondsEach: Double) {
        self.bytes = bytes
        self.rounds = rounds
        self.secondsEach = secondsEach
    }

    /// If the environment variable ONLY is set, only jobs with that text in their name run, for
    /// profilers.
    mutating func add(_ name: String, _ run: @escaping () -> Void) {
        let only = ProcessInfo.processInfo.environment["ONLY"] ?? ""
        if only.isEmpty || name.contains(only) { jobs.append((name, run)) }
    }

    /// The speed of each job in megabytes per second of processor time, for each round.
    func speeds() -> Speeds {
        var speeds: [String: [Double]] = [:]
        for _ in 0..<rounds {
            for job in jobs {
                speeds[job.name, default: []].append(speed(of: job.run, seconds: secondsEach))
            }
        }
        return Speeds(rounds: speeds)
    }

    private func speed(of run: () -> Void, seconds: Double) -> Double {
        // A warm-up run, because the previous job has changed memory and caches.
        let warmUp = processorTime()
        run()
        let start = processorTime()
        // Reading the clock takes 0.3 µs, a tenth of a small job. The clock is therefore read once
        // per batch of about 50 µs.
        let batch = max(1, Int(50e-6 / max(start - warmUp, 1e-6)))
        var count = 0
        var spent = 0.0
        repeat {
            for _ in 0..<batch { run() }
            count += batch
            spent = processorTime() - start
        } while spent < seconds
        return Double(bytes * count) / max(spent, 1e-9) / 1e6
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The measured speeds of each job, by round.
struct Speeds {
    let rounds: [String: [Double]]

    /// The median speed of a job; nil if it was not measured.
    subscript(name: String) -> Double? { rounds[name].map(median) }

    /// The speed of a job relative to another, as the median of the ratios within each round.
    ///
    /// Both jobs of a round run under the same load, so the ratio is stable on a busy machine.
    func ratio(_ name: String, over other: String) -> Double? {
        guard let own = rounds[name], let peer = rounds[other] else { return nil }
        return median(zip(own, peer).map { $0 / $1 })
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// Uses a result, so that the optimizer does not remove its computation.
@inline(never)
func keep<T>(_ value: T) {}
