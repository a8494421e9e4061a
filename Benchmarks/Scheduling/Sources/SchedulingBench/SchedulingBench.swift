import BenchSupport
import ErrandCore
import Foundation
import Synchronization

/// Measures the cost of requests that wait for one active request, and are then served or
/// cancelled.
///
///     swift run -c release SchedulingBench [COUNT …]
@main struct SchedulingBench {
    static func main() async throws {
        let asked = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        if CommandLine.arguments.count == 4, asked.count == 2 {
            await measure(asked[0], hosts: asked[1])
            return
        }
        let counts = asked.isEmpty ? [1000, 10_000, 100_000] : asked
        let columns =
            "requests  hosts     start us  serve us  urgent us  cancel us  bytes each  threads"
        FileHandle.standardOutput.write(Data((columns + "\n").utf8))
        for count in counts {
            // Each row runs in its own process, because memory freed by an earlier run would hide
            // new use.
            for hosts in [1, count] {
                let row = Process()
                row.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
                row.arguments = ["row", "\(count)", "\(hosts)"]
                try row.run()
                row.waitUntilExit()
            }
        }
    }

    private static func measure(_ count: Int, hosts: Int) async {
        let served = await run(count, hosts: hosts) { transport, tasks in
            let start = Meter.cpu
            // Raises the priority of every tenth waiting request first.
            for task in tasks where tasks.count > 1 && task.tag % 10 == 0 { task.priority = .high }
            let urgent = (Meter.cpu - start) / Double(tasks.count / 10)
            transport.open()
            return urgent
        }
        let cancelled = await run(count, hosts: hosts) { _, tasks in
            for task in tasks.reversed() { task.cancel() }
            return 0
        }
        let cells = [
            pad("\(count)", 10), pad("\(hosts)", 10), pad(short(served.start), 10),
            pad(short(served.end), 10), pad(short(served.extra), 11), pad(short(cancelled.end), 11),
            pad("\(served.bytes)", 12), "\(served.threads)",
        ]
        print(cells.joined())
    }

    private struct Cost {
        var start = 0.0
        var end = 0.0
        var extra = 0.0
        var bytes = 0
        var threads = 0
    }

    /// Starts all requests, waits until all but one are queued, then calls `finish`.
    private static func run(
        _ count: Int, hosts: Int, finish: (HoldingTransport, [RequestTask]) -> Double
    ) async -> Cost {
        let transport = HoldingTransport()
        let observer = QueueObserver()
        var configuration = Configuration()
        configuration.limits = RequestLimits(total: 1, perHost: 1)
        configuration.eventListeners = [observer]
        let agent = RequestAgent(configuration: configuration, transport: transport, store: nil)
        let descriptions = (0..<hosts).map { host in
            RequestDescription(endpoint: "Waiting", url: "https://h\(host).example.com/x")
        }
        var cost = Cost()
        let memory = Meter.memoryAndThreads.bytes
        var cpu = Meter.cpu
        let tasks = (0..<count).map { number in
            var description = descriptions[number % hosts]
            description.tag = number
            return agent.start(description)
        }
        await observer.untilQueued(count - 1)
        cost.start = (Meter.cpu - cpu) / Double(count)
        let now = Meter.memoryAndThreads
        cost.bytes = (now.bytes - memory) / count
        cost.threads = now.threads
        cpu = Meter.cpu
        cost.extra = finish(transport, tasks)
        for task in tasks { _ = try? await task.response() }
        cost.end = (Meter.cpu - cpu) / Double(count)
        await agent.shutdown(draining: false)
        return cost
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func short(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// Counts queued requests and waits for a given number.
final class QueueObserver: RequestEventListener {
    private struct State {
        var queued = 0
        var wanted = Int.max
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func handle(_ event: RequestEvent) {
        guard case .queued = event.kind else { return }
        change { $0.queued += 1 }
    }

    func untilQueued(_ count: Int) async {
        await withCheckedContinuation { continuation in
            change { state in
                state.wanted = count
                state.waiter = continuation
            }
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            guard state.queued >= state.wanted else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
