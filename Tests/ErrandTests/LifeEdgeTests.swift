import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct LifeEdgeTests {
    @Test func aCancelJustBeforeTheEndIsTheEnd() async throws {
        let world = World { configuration in
            configuration.responseProcessors = []
        }
        let gate = Gate()
        world.agent.configuration.responseProcessors = [
            ClosureProcessor { response, _ in
                // Deaf to cancellation, as a user's code may be.
                await Task { try? await gate.passed() }.value
                return response
            }
        ]
        world.transport.on(.get, "/x", .json("{}"))
        let task = world.agent.start(Plain("x").describe())
        try await gate.reached()
        task.cancel()
        #expect(task.phase == .cancelling)
        gate.open()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
    }

    @Test func whatIsStartedAfterShutDownNeverReachesTheTransport() async {
        let world = World()
        await world.agent.shutdown()
        for _ in 0..<200 {
            let task = world.agent.start(Plain("x").describe())
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .agentShutDown)
        }
        #expect(world.transport.requests.isEmpty)
        #expect(world.agent.activeTasks.isEmpty)
    }

    @Test func cancellingWhoWaitsForADrainEndsWhatIsUnderWay() async throws {
        let world = World()
        world.transport.on(.get, "/slow", .silence)
        let agent = world.agent
        let task = agent.start(Plain("slow").describe())
        _ = try await world.transport.nextRequest()
        let down = Task { await agent.shutdown(draining: true) }
        down.cancel()
        await down.value
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .agentShutDown)
        // Whoever waited for the shut-down has heard of every end.
        #expect(world.events.names.last == "ended")
    }

    @Test func suspendingTwiceTellsOnce() async throws {
        let world = World()
        world.transport.on(.get, "/slow", .silence)
        let task = world.agent.start(Plain("slow").describe())
        let told = Mutex<[String]>([])
        task.observe { change in told.withLock { $0.append("\(change)") } }
        _ = try await world.transport.nextRequest()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        task.resume()
        task.cancel()
        task.cancel()
        _ = await task.outcome()
        #expect(told.withLock { $0 } == ["willSuspend", "didResume", "willCancel", "ended"])
        let names = world.events.names
        #expect(names.count { $0 == "suspended" } == 1 && names.count { $0 == "cancelled" } == 1)
    }

    @Test func theDeadlineIsNoCancellation() async throws {
        let world = World { $0.timeouts.total = .seconds(1) }
        world.transport.on(.get, "/slow", .silence)
        let task = world.agent.start(Plain("slow").describe())
        let told = Mutex<[String]>([])
        task.observe { change in told.withLock { $0.append("\(change)") } }
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(1))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.timeout == .total)
        #expect(told.withLock { $0 } == ["ended"])
    }

    @Test func cancellingTheTaskThatRunsABatchStillEndsEveryMember() async throws {
        let world = World()
        world.transport.on(.get, "/slow", .silence)
        let (agent, transport) = (world.agent, world.transport)
        let work = Task {
            let log = Log()
            let members = (0..<3).map { _ in Noted("slow", log: log) }
            for member in members { member.agent = agent }
            let batch = BatchRequest(members, policy: .collectAll)
            let error = await #expect(throws: RequestError.self) { try await batch.send() }
            #expect(error?.code == .cancelled)
            #expect(members.allSatisfy { $0.error?.code == .cancelled })
            return log.lines.count { $0 == "didStop accessory" }
        }
        for _ in 0..<3 { _ = try await transport.nextRequest() }
        work.cancel()
        #expect(await work.value == 3)
        #expect(agent.activeTasks.isEmpty)
    }

    @Test func progressBeginsAnewWithEveryAttempt() async throws {
        let world = World { $0.retryPolicy = .attempts(2) }
        world.transport.on(
            .get, "/x", .json("{\"a\":1}", status: .serviceUnavailable), .json("{\"a\":1}"))
        let task = world.agent.start(Plain("x").describe())
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(60))
        _ = try await task.response()
        #expect(task.progress.current.bytesReceived == 7)
    }
}
