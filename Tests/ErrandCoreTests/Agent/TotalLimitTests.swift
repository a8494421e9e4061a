import Dispatch
import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// The total time limit counts from the start of a request, whether or not it runs.
@Suite(.limited) struct TotalLimitTests {
    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let events = EventRecorder()

    private func agent(
        _ clock: any RequestClock, total: Duration?,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) -> RequestAgent {
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.timeouts.total = total
        configuration.eventListeners = [events]
        configure(&configuration)
        transport.on(.get, "/x", ScriptedResponse.json("{}"))
        return RequestAgent(configuration: configuration, transport: transport, clock: clock)
    }

    private var description: RequestDescription { RequestDescription(endpoint: "Test", url: "x") }

    @Test func taskThatDoesNotRunEndsWithItsLimit() async throws {
        let agent = agent(clock, total: .seconds(5))
        let task = agent.enlist(description)
        task.onProgress { _ in }
        try await clock.untilSleeping()
        clock.advance(by: .seconds(4))
        #expect(task.phase == .described)
        clock.advance(by: .seconds(1))
        let error = await task.outcome().error
        #expect(error?.code == .timedOut)
        #expect(error?.timeout == .total)
        #expect(error?.message.contains("5.0 seconds") == true)
        #expect(task.phase == .ended)
        #expect(events.names == ["started", "ended"])
        #expect(agent.activeTasks.isEmpty)
        // A late run has no effect, and returns the same end.
        #expect(await agent.outcome(of: task).error?.timeout == .total)
        #expect(events.names == ["started", "ended"])
        #expect(transport.requests.isEmpty)
    }

    @Test func limitCountsTheTimeBeforeTheRun() async throws {
        let agent = agent(clock, total: .seconds(5))
        transport.on(.get, "/x", .silence)
        let task = agent.enlist(description)
        try await clock.untilSleeping()
        clock.advance(by: .seconds(4))
        async let outcome = agent.outcome(of: task)
        _ = try await transport.nextRequest()
        clock.advance(by: .seconds(1))
        #expect(await outcome.error?.timeout == .total)
        #expect(clock.sleepers == 0)
    }

    @Test func cancelledTaskThatDoesNotRunEndsWithItsLimitAsCancelled() async throws {
        let agent = agent(clock, total: .seconds(5))
        let task = agent.enlist(description)
        try await clock.untilSleeping()
        task.cancel()
        clock.advance(by: .seconds(5))
        #expect(await task.outcome().error?.code == .cancelled)
    }

    @Test func endCancelsTheLimit() async throws {
        let agent = agent(clock, total: .seconds(5))
        let outcome = await agent.outcome(of: agent.enlist(description))
        #expect(outcome.error == nil)
        try await clock.untilSleeping(0)
        clock.advance(by: .seconds(5))
        #expect(events.names.last == "ended" && events.names.count { $0 == "ended" } == 1)
    }

    @Test func shutDownAgentRefusesATaskWithALimit() async {
        let agent = agent(clock, total: .seconds(5))
        await agent.shutdown()
        #expect(await agent.outcome(of: agent.enlist(description)).error?.code == .agentShutDown)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func limitOfZeroOrLessIsInvalidAndNotATimeout(total: Duration) async {
        let agent = agent(SystemClock(), total: total)
        let error = await agent.outcome(of: agent.enlist(description)).error
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func ownerlessLimitRetainsNeitherTaskNorAgent() async throws {
        weak var weakAgent: RequestAgent?
        weak var weakTask: RequestTask?
        do {
            let agent = agent(SystemClock(), total: .seconds(3600))
            let task = agent.enlist(description)
            await agent.perform(task)
            (weakAgent, weakTask) = (agent, task)
        }
        // The runner releases its request after it has resumed this task.
        for _ in 0..<100_000 where weakAgent != nil || weakTask != nil { await Task.yield() }
        #expect(weakAgent == nil)
        #expect(weakTask == nil)
    }

    /// Hooks of other requests, which block their threads until `release()` is called.
    private final class Blockage: Sendable {
        private let arrived = DispatchSemaphore(value: 0)
        private let released = DispatchSemaphore(value: 0)
        private let count = ProcessInfo.processInfo.activeProcessorCount

        func block() {
            arrived.signal()
            released.wait()
        }

        /// Starts more requests than the cooperative pool has threads, and waits for the hooks.
        func begin(_ start: () -> Void) {
            for _ in 0..<4 * count { start() }
            for _ in 0..<count { arrived.wait() }
        }

        func release() { for _ in 0..<4 * count { released.signal() } }
    }

    /// The code of the process in which the pool is blocked: 0 if the limit ended the request.
    ///
    /// Runs on the main thread, because no thread of the cooperative pool is free.
    @MainActor private static func exitCodeWhileBlocked() -> Int32 {
        let blockage = Blockage()
        let tests = TotalLimitTests()
        let limited = tests.agent(SystemClock(), total: .milliseconds(50))
        let blocked = tests.agent(SystemClock(), total: nil) {
            $0.requestProcessors = [{ _, _, _ in blockage.block() }]
        }
        blockage.begin { blocked.start(tests.description) }
        let ended = DispatchSemaphore(value: 0)
        let error = Mutex<RequestError?>(nil)
        // A request with a cache time does not begin on the caller's thread.
        var slow = tests.description
        slow.cacheSeconds = 60
        limited.start(slow).whenEnded { end in
            error.withLock { $0 = end.error }
            ended.signal()
        }
        // The timeout is reached only on failure.
        guard ended.wait(timeout: .now() + 60) == .success else { return 2 }
        blockage.release()
        let result = error.withLock { $0 }
        return result?.code == .timedOut && result?.timeout == .total ? 0 : 3
    }

    /// The pool is blocked in a process of its own: tests of other suites need it.
    @Test func limitEndsARequestWhileHooksBlockThePool() async {
        await #expect(processExitsWith: .success) {
            exit(await Self.exitCodeWhileBlocked())
        }
    }
}

extension RequestAgent {
    /// Performs a task and returns its outcome.
    fileprivate func outcome(of task: RequestTask) async -> TaskOutcome {
        await perform(task)
        return task.finalOutcome
    }
}
