import Foundation

/// Runs jobs in turns and gives each one's median speed.
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

    /// With the environment's ONLY set to a word, other jobs are left out, for profilers.
    mutating func add(_ name: String, _ run: @escaping () -> Void) {
        let only = ProcessInfo.processInfo.environment["ONLY"] ?? ""
        if only.isEmpty || name.contains(only) { jobs.append((name, run)) }
    }

    /// Megabytes a second of processor time, in each round.
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
        // The first run finds memory and caches as the job before has left them.
        let warmUp = processorTime()
        run()
        let start = processorTime()
        // To read the clock takes a third of a microsecond, a tenth of the time of a small job; so
        // it is read after as many runs as take 50 microseconds.
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

/// What was measured of each job, round by round.
struct Speeds {
    let rounds: [String: [Double]]

    /// A job's median; nil if it was not measured.
    subscript(name: String) -> Double? { rounds[name].map(median) }

    /// How many times as fast as another a job was: the median of the rounds, since both have the
    /// same company on a busy machine.
    func ratio(_ name: String, over other: String) -> Double? {
        guard let own = rounds[name], let peer = rounds[other] else { return nil }
        return median(zip(own, peer).map { $0 / $1 })
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// Keeps a result, so that the work for it is not optimised away.
@inline(never)
func keep<T>(_ value: T) {}
