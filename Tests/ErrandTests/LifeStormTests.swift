import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Thousands of starts, cancels, suspends and resumes from several threads: every start ends once.
@Suite(.timeLimit(.minutes(2))) struct LifeStormTests {
    @Test func noEndIsLostOrToldTwice() async {
        let ends = Ends()
        let transport = ScriptedTransport()
        transport.on(nil, nil, .json(#"{"n":1}"#))
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [ends]
        configuration.maximumRequestsInFlight = 16
        let agent = RequestAgent(
            configuration: configuration, transport: transport, store: nil, clock: ManualClock())
        let counts = Counts()
        await withTaskGroup { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = SplitMix(state: UInt64(seed))
                    var tasks: [(RequestTask, cancelled: Bool)] = []
                    for _ in 0..<1250 {
                        var description = RequestDescription(endpoint: "Storm", url: "x")
                        if random.next() % 4 == 0 { description.duplicatePolicy = .join }
                        let task = agent.start(description)
                        tasks.append((task, Self.trouble(task, &random)))
                    }
                    // All of them first: a suspended one may hold a place that another waits for.
                    for (task, _) in tasks { task.resume() }
                    for (task, wasCancelled) in tasks {
                        let result = await task.outcome().result
                        counts.add(result)
                        #expect(task.phase == .ended)
                        // A cancel that came before the end is the end, whatever else came in.
                        if wasCancelled { #expect((try? result.get()) == nil) }
                    }
                }
            }
        }
        let (succeeded, cancelled, other) = counts.value.withLock { $0 }
        #expect(succeeded + cancelled == 10_000 && other == 0)
        #expect(cancelled > 0 && succeeded > 0)
        #expect(agent.activeTasks.isEmpty)
        #expect(ends.endedTwice == 0 && ends.count == 10_000)
        try? await transport.untilIdle()
    }

    /// Cancels, suspends or leaves alone; true when the task was cancelled before its end.
    private static func trouble(_ task: RequestTask, _ random: inout SplitMix) -> Bool {
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

/// What the tasks came to.
private final class Counts: Sendable {
    let value = Mutex((succeeded: 0, cancelled: 0, other: 0))

    func add(_ result: Result<Response, RequestError>) {
        value.withLock { value in
            switch result {
            case .success: value.succeeded += 1
            case .failure(let error) where error.isCancellation: value.cancelled += 1
            case .failure: value.other += 1
            }
        }
    }
}

struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Counts the ends of tasks.
final class Ends: RequestEventListener {
    private let seen = Mutex<[UUID: Int]>([:])

    var count: Int { seen.withLock { $0.count } }
    var endedTwice: Int { seen.withLock { $0.values.count { $0 > 1 } } }

    func handle(_ event: RequestEvent) {
        if case .ended = event.kind { seen.withLock { $0[event.taskID, default: 0] += 1 } }
    }
}
