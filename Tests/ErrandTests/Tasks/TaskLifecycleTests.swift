import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited) struct TaskLifecycleTests {
    @Test func cancelDuringResponseProcessingEndsWithCancelled() async throws {
        let fixture = AgentFixture { configuration in
            configuration.responseProcessors = []
        }
        let gate = Gate()
        fixture.agent.configuration.responseProcessors = [
            { _ in
                // Ignores cancellation, as a user's processor may.
                await Task { try? await gate.passed() }.value
            }
        ]
        fixture.transport.on(.get, "/x", .json("{}"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await gate.reached()
        task.cancel()
        #expect(task.phase == .cancelling)
        gate.open()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
    }

    @Test func requestStartedAfterShutdownIsNotSent() async {
        let fixture = AgentFixture()
        await fixture.agent.shutdown()
        for _ in 0..<200 {
            let task = fixture.agent.start(Plain("x").makeDescription())
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .agentShutDown)
        }
        #expect(fixture.transport.requests.isEmpty)
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func cancellingADrainingShutdownCancelsActiveRequests() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        let agent = fixture.agent
        let task = agent.start(Plain("slow").makeDescription())
        _ = try await fixture.transport.nextRequest()
        let shutdown = Task { await agent.shutdown(draining: true) }
        shutdown.cancel()
        await shutdown.value
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .agentShutDown)
        // All events are delivered before shutdown returns.
        #expect(fixture.events.names.last == "ended")
    }

    @Test func repeatedSuspendResumeAndCancelAreReportedOnce() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        let task = fixture.agent.start(Plain("slow").makeDescription())
        let changes = Mutex<[String]>([])
        task.observe { change in changes.withLock { $0.append("\(change)") } }
        _ = try await fixture.transport.nextRequest()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        task.resume()
        task.cancel()
        task.cancel()
        _ = await task.outcome()
        #expect(changes.withLock { $0 } == ["willSuspend", "didResume", "willCancel", "ended"])
        let names = fixture.events.names
        #expect(names.count { $0 == "suspended" } == 1 && names.count { $0 == "cancelled" } == 1)
    }

    @Test func resumptionIsReportedIfTheTaskEndsMeanwhile() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        let task = fixture.agent.start(Plain("slow").makeDescription())
        let changes = Mutex<[String]>([])
        task.observe { change in changes.withLock { $0.append("\(change)") } }
        _ = try await fixture.transport.nextRequest()
        task.suspend()
        task.pause.watch { _ = task.end() }
        task.resume()
        #expect(changes.withLock { $0 } == ["willSuspend", "ended", "didResume"])
        task.pause.watch(nil)
        task.scope.cancel()
        _ = await task.outcome()
    }

    @Test func totalTimeoutDoesNotReportWillCancel() async throws {
        let fixture = AgentFixture { $0.timeouts.total = .seconds(1) }
        fixture.transport.on(.get, "/slow", .silence)
        let task = fixture.agent.start(Plain("slow").makeDescription())
        let changes = Mutex<[String]>([])
        task.observe { change in changes.withLock { $0.append("\(change)") } }
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(1))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.timeout == .total)
        #expect(changes.withLock { $0 } == ["ended"])
    }

    @Test func cancellingTheTaskOfABatchEndsEveryMember() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        let (agent, transport) = (fixture.agent, fixture.transport)
        let batchTask = Task {
            let log = CallbackLog()
            let members = (0..<3).map { _ in RecordingRequest("slow", log: log) }
            let batch = BatchRequest(members, policy: .collectAll)
            let error = await #expect(throws: RequestError.self) { try await batch.send(on: agent) }
            #expect(error?.code == .cancelled)
            #expect(members.allSatisfy { $0.error?.code == .cancelled })
            return log.lines.count { $0 == "didStop accessory" }
        }
        for _ in 0..<3 { _ = try await transport.nextRequest() }
        batchTask.cancel()
        #expect(await batchTask.value == 3)
        #expect(agent.activeTasks.isEmpty)
    }

    @Test func progressRestartsWithEachAttempt() async throws {
        let fixture = AgentFixture { $0.retryPolicy = .attempts(2) }
        fixture.transport.on(
            .get, "/x", .json("{\"a\":1}", status: .serviceUnavailable), .json("{\"a\":1}"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(60))
        _ = try await task.response()
        #expect(task.progress.current.bytesReceived == 7)
    }
}
