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

    /// Megabytes a second of processor time, the median over all rounds.
    func medians() -> [String: Double] {
        var speeds: [String: [Double]] = [:]
        for round in 0...rounds {
            for job in jobs {
                let speed = speed(of: job.run, seconds: round == 0 ? 0 : secondsEach)
                if round > 0 { speeds[job.name, default: []].append(speed) }
            }
        }
        return speeds.mapValues { $0.sorted()[$0.count / 2] }
    }

    private func speed(of run: () -> Void, seconds: Double) -> Double {
        let start = processorTime()
        run()
        // To read the clock takes a third of a microsecond, a tenth of the time of a small job; so
        // it is read after as many runs as take 50 microseconds.
        let batch = max(1, Int(50e-6 / max(processorTime() - start, 1e-6)))
        var count = 1
        var spent = processorTime() - start
        while spent < seconds {
            for _ in 0..<batch { run() }
            count += batch
            spent = processorTime() - start
        }
        return Double(bytes * count) / max(spent, 1e-9) / 1e6
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Keeps a result, so that the work for it is not optimised away.
@inline(never)
func keep<T>(_ value: T) {}
