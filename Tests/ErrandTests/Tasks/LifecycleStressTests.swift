import Errand
import ErrandTesting
import TestSupport
import Testing

/// Thousands of starts, cancels, suspends and resumes from several threads: each request ends exactly once.
@Suite(.limited) struct LifecycleStressTests {
    @Test func eachTaskEndsExactlyOnce() async {
        let ends = EndCounter()
        let transport = ScriptedTransport()
        transport.on(nil, nil, .json(#"{"n":1}"#))
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [ends]
        configuration.limits.total = 16
        let agent = RequestAgent(
            configuration: configuration, transport: transport, store: nil, clock: ManualClock())
        let tally = ResultTally()
        await withTaskGroup { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(seed))
                    var tasks: [(RequestTask, cancelled: Bool)] = []
                    for _ in 0..<1250 {
                        var description = RequestDescription(endpoint: "Storm", url: "x")
                        if random.next() % 4 == 0 { description.sending.duplicates = .join }
                        let task = agent.start(description)
                        tasks.append((task, Self.disturb(task, &random)))
                    }
                    // Resume all before awaiting any: a suspended task may hold a permit that another needs.
                    for (task, _) in tasks { task.resume() }
                    for (task, wasCancelled) in tasks {
                        let result = await task.outcome().result
                        tally.add(result)
                        #expect(task.phase == .ended)
                        // A task that was cancelled before its end does not succeed.
                        if wasCancelled { #expect((try? result.get()) == nil) }
                    }
                }
            }
        }
        let counts = tally.counts
        #expect(counts.succeeded + counts.cancelled == 10_000 && counts.failures.isEmpty)
        #expect(counts.cancelled > 0 && counts.succeeded > 0)
        #expect(agent.activeTasks.isEmpty)
        #expect(ends.endedTwice == 0 && ends.count == 10_000)
        try? await transport.untilIdle()
    }

    /// Cancels, suspends, resumes, or does nothing; `true` when the task was cancelled before its end.
    private static func disturb(_ task: RequestTask, _ random: inout SeededGenerator) -> Bool {
        switch random.next() % 6 {
        case 0:
            task.cancel()
            return task.phase == .cancelling
        case 1:
            task.suspend()
            task.cancel()
            return task.phase == .cancelling
        case 2: task.suspend()
        case 3:
            task.suspend()
            task.resume()
        default: break
        }
        return false
    }
}
