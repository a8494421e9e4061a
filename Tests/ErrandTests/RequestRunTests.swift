import Dispatch
import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct RequestRunTests {
    @Test func sendReturnsTheAnswerAndLeavesItOnTheRequest() async throws {
        let world = World()
        world.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        let request = world.with(Plain("users"))
        let response = try await request.send()
        #expect(response.status == 200)
        #expect(response.json["nick"].string == "a")
        #expect(request.response?.json["level"].int == 3)
        #expect(request.error == nil)
        #expect(response.source == .network)
        #expect(response.attempts == 1)
        #expect(world.agent.activeTasks.isEmpty)
    }

    @Test func valueDecodes() async throws {
        let world = World()
        world.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        let request = world.with(GetUser(id: 7))
        #expect(try await request.value() == User(nick: "a", level: 3))
        #expect(request.output == User(nick: "a", level: 3))
        #expect(world.transport.requests.first?.url.string == "https://api.example.com/users?id=7")
    }

    @Test func aBodyOfAnotherTypeIsAnUndecodableAnswerWithItsPath() async throws {
        let world = World()
        world.transport.on(.get, "/users", .json(#"{"nick":"a","level":"high"}"#))
        let request = world.with(GetUser(id: 7))
        let error = await #expect(throws: RequestError.self) { try await request.value() }
        #expect(error?.code == .undecodable)
        #expect(error?.stage == .decode)
        #expect(error?.message.contains("level") == true)
        #expect(error?.message.contains("high") == false)
        #expect(request.output == nil)
        #expect(request.response?.json["level"].string == "high")
    }

    @Test func closuresOnAQueueGetTheResult() async throws {
        let world = World()
        world.transport.on(.get, "/users", .json("{}"))
        let queue = DispatchQueue(label: "callbacks")
        let result = await withCheckedContinuation { continuation in
            world.with(Plain("users")).start(on: queue) { result in
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume(returning: result)
            }
        }
        #expect(try result.get().status == 200)
    }

    @Test @MainActor func aRequestMayBeStartedAgainInItsOwnCallback() async throws {
        let world = World()
        world.transport.on(.get, "/again", .json(#"{"n":1}"#), .json(#"{"n":2}"#))
        let request = world.with(Plain("again"))
        let values: [Int?] = await withCheckedContinuation { continuation in
            var values: [Int?] = []
            request.start { request in
                values.append(request.response?.json["n"].int)
                request.start { request in
                    values.append(request.response?.json["n"].int)
                    continuation.resume(returning: values)
                }
            }
        }
        #expect(values == [1, 2])
    }

    @Test func cancellingTheSwiftTaskCancelsTheRequest() async throws {
        let world = World()
        world.transport.on(.get, "/slow", .silence)
        let agent = world.agent
        let work = Task {
            let request = Plain("slow")
            request.agent = agent
            return try await request.send()
        }
        _ = try await world.transport.nextRequest()
        work.cancel()
        let error = await #expect(throws: RequestError.self) { try await work.value }
        #expect(error?.code == .cancelled)
        #expect(error?.stage == .cancel)
        #expect(world.transport.inFlight == 0)
        #expect(world.agent.activeTasks.isEmpty)
    }

    @Test func theTotalLimitEndsARequest() async throws {
        let world = World { $0.timeouts.total = .seconds(5) }
        world.transport.on(.get, "/slow", .silence)
        let task = world.agent.start(world.with(Plain("slow")).describe())
        _ = try await world.transport.nextRequest()
        try await world.clock.untilSleeping()
        world.clock.advance(by: .seconds(5))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .timedOut)
        #expect(error?.timeout == .total)
    }

    @Test func inlineRequestsSetTheSameMembers() async throws {
        let world = World()
        world.transport.on(.post, "/things", .json("{}"))
        let request = world.with(
            InlineRequest("things") {
                $0.method = .post
                $0.arguments = ["name": "a b"]
                $0.requestSerializer = .json
            })
        try await request.send()
        let sent = try #require(world.transport.requests.first)
        #expect(sent.headers[.contentType]?.hasPrefix("application/json") == true)
        #expect(sent.body?.knownLength == Int64(#"{"name":"a b"}"#.utf8.count))
    }

    @Test func shutDownAgentsTakeNothingAndDrain() async throws {
        let world = World()
        let gate = Gate()
        world.transport.on(.get, "/slow", ScriptedAnswer.json("{}").held(by: gate))
        let running = world.agent.start(world.with(Plain("slow")).describe())
        _ = try await world.transport.nextRequest()
        async let down: Void = world.agent.shutdown(draining: true)
        gate.open()
        #expect(try await running.response().status == 200)
        await down
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("late")).send()
        }
        #expect(error?.code == .agentShutDown)
    }

    @Test func suspendedTasksWaitAndGoOn() async throws {
        let world = World()
        world.transport.on(.get, "/x", .json("{}"))
        let agent = world.agent
        let gate = Gate()
        agent.configuration.headerProvider = {
            try await gate.passed()
            return [:]
        }
        let task = agent.start(world.with(Plain("x")).describe())
        try await gate.reached()
        task.suspend()
        gate.open()
        #expect(task.phase == .suspended)
        #expect(world.transport.requests.isEmpty)
        task.resume()
        #expect(try await task.response().status == 200)
        #expect(task.phase == .ended)
    }
}
