import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Random operations from several threads on requests with retries, shared transfers, caching and timeouts.
///
/// Each request calls its hooks in the documented order, once each.
@Suite(.limited) @MainActor struct RandomizedLifecycleTests {
    /// Records all hooks and delegate calls in order.
    private final class RecordingRequest: BaseRequest, RequestDelegate {
        private let path: String
        private let policy: RequestDescription.SendingOptions.Duplicates
        private let total: Duration?
        var lines: [String] = []

        init(
            _ path: String, _ policy: RequestDescription.SendingOptions.Duplicates, total: Duration?
        ) {
            self.path = path
            self.policy = policy
            self.total = total
            super.init()
            delegate = self
        }

        override var url: EndpointURL { EndpointURL(raw: path) }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.sending.duplicates = policy
        }
        override var cacheSeconds: Int { 5 }
        override var timeouts: Timeouts? { Timeouts(total: total) }
        override func willStart() { lines.append("willStart()") }
        override func didFinish() { lines.append("didFinish()") }
        override func didFail() { lines.append("didFail()") }
        func requestDidFinish(_ request: BaseRequest) { lines.append("delegate finished") }
        func requestDidFail(_ request: BaseRequest, _ error: RequestError) {
            lines.append("delegate failed")
        }
    }

    private enum Operation: CaseIterable {
        case suspend, resume, cancel, advanceShortly, advanceFar, openGate
    }

    @Test(arguments: 0..<60) func hooksKeepTheirOrderUnderRandomOperations(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed) &* 7919 &+ 1)
        let ends = EndCounter()
        let clock = ManualClock()
        let transport = ScriptedTransport()
        let gates = (0..<4).map { _ in Gate() }
        for path in ["/a", "/b"] {
            let all = responses(&random, gates)
            transport.on(
                nil, path, all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7],
                .json("{}"))
        }
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [ends]
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 4, baseDelay: .seconds(2))
        configuration.limits.total = 3
        let agent = RequestAgent(
            configuration: configuration, transport: transport, clock: clock)
        let requests = (0..<6).map { _ in
            RecordingRequest(
                ["a", "b"][Int(random.next() % 2)],
                [.allow, .join, .join, .queue][Int(random.next() % 4)],
                total: random.next() % 3 == 0 ? .seconds(20) : nil)
        }
        let isDone = Gate()
        var remaining = requests.count
        let tasks = requests.map {
            start($0, agent) {
                remaining -= 1
                if remaining == 0 { isDone.open() }
            }
        }
        let seeds = (0..<3).map { _ in random.next() }
        await withTaskGroup { group in
            for seed in seeds {
                group.addTask { await Self.operate(on: tasks, gates, clock, seed) }
            }
        }
        for gate in gates { gate.open() }
        // Advance the clock until the remaining timers have fired.
        await withTaskGroup { group in
            group.addTask {
                while !isDone.isOpen {
                    for task in tasks { task.resume() }
                    clock.advance(by: .seconds(1))
                    await Task.yield()
                }
            }
        }
        for (request, task) in zip(requests, tasks) { check(request, task, seed) }
        #expect(ends.count == requests.count && ends.endedTwice == 0, "seed \(seed)")
        #expect(agent.activeTasks.isEmpty, "seed \(seed)")
        try await transport.untilIdle()
    }

    private func start(
        _ request: RecordingRequest, _ agent: RequestAgent, _ stopped: @escaping () -> Void
    ) -> RequestTask {
        request.observe { [weak request] event, _ in
            request?.lines.append("\(event)")
            if event == .didStop { stopped() }
        }
        return request.start(on: agent) {
            $0.lines.append("success")
        } failure: { request, _ in
            request.lines.append("failure")
        }
    }

    private func responses(_ random: inout SeededGenerator, _ gates: [Gate]) -> [ScriptedResponse] {
        (0..<8).map { _ -> ScriptedResponse in
            let gate = gates[Int(random.next() % 4)]
            return switch random.next() % 6 {
            case 0: .failure(RequestError(.connectionLost, stage: .transport, "connection lost"))
            case 1: .json("{}", status: .serviceUnavailable)
            case 2: .json("{}", status: .notFound)
            case 3: ScriptedResponse.json("{}").held(by: gate)
            case 4: ScriptedResponse.json("{}", status: .badGateway).held(by: gate)
            default: .json("{}")
            }
        }
    }

    private nonisolated static func operate(
        on tasks: [RequestTask], _ gates: [Gate], _ clock: ManualClock, _ seed: UInt64
    ) async {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let task = tasks[Int(random.next() % UInt64(tasks.count))]
            switch Operation.allCases[Int(random.next() % UInt64(Operation.allCases.count))] {
            case .suspend: task.suspend()
            case .resume: task.resume()
            // Rare, so that most requests run for long.
            case .cancel: if random.next() % 8 == 0 { task.cancel() }
            case .advanceShortly: clock.advance(by: .milliseconds(700))
            case .advanceFar: if random.next() % 4 == 0 { clock.advance(by: .seconds(6)) }
            case .openGate: gates[Int(random.next() % 4)].open()
            }
            if random.next() % 3 == 0 { await Task.yield() }
        }
    }

    private func check(_ request: RecordingRequest, _ task: RequestTask, _ seed: Int) {
        let operations: Set = ["willSuspend", "didResume", "willCancel"]
        let (operationLines, order) = (
            request.lines.filter(operations.contains),
            request.lines.filter { !operations.contains($0) }
        )
        let success = [
            "willStart", "willStart()", "willStop", "didFinish()", "delegate finished", "success",
            "didStop",
        ]
        let failure = [
            "willStart", "willStart()", "willStop", "didFail()", "delegate failed", "failure",
            "didStop",
        ]
        #expect(order == (request.error == nil ? success : failure), "seed \(seed)")
        #expect(request.lines.first == "willStart" && request.lines.last == "didStop")
        #expect(task.phase == .ended)
        let isCancelled = request.error?.code == .cancelled
        let cancels = operationLines.count { $0 == "willCancel" }
        #expect(cancels == (isCancelled ? 1 : 0), "seed \(seed)")
    }
}
