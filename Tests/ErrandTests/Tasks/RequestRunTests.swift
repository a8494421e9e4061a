import Dispatch
import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) struct RequestRunTests {
    @Test func sendReturnsAndStoresTheResponse() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        let request = fixture.with(Plain("users"))
        let response = try await request.send()
        #expect(response.status == 200)
        #expect(response.json["nick"].string == "a")
        #expect(request.response?.json["level"].int == 3)
        #expect(request.error == nil)
        #expect(response.source == .network)
        #expect(response.attempts == 1)
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func valueReturnsTheDecodedOutput() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":3}"#))
        let request = fixture.with(GetUser(id: 7))
        #expect(try await request.value() == User(nick: "a", level: 3))
        #expect(request.output == User(nick: "a", level: 3))
        #expect(
            fixture.transport.requests.first?.url.string == "https://api.example.com/users?id=7")
    }

    @Test func typeMismatchIsUndecodableAndNamesThePath() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/users", .json(#"{"nick":"a","level":"high"}"#))
        let request = fixture.with(GetUser(id: 7))
        let error = await #expect(throws: RequestError.self) { try await request.value() }
        #expect(error?.code == .undecodable)
        #expect(error?.stage == .decode)
        #expect(
            error?.message.contains(#"expected Int at $.level, found a string"#) == true)
        #expect(request.output == nil)
        #expect(request.response?.json["level"].string == "high")
    }

    @Test func closureIsCalledOnTheGivenQueue() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/users", .json("{}"))
        let queue = DispatchQueue(label: "callbacks")
        let status = await withCheckedContinuation { continuation in
            Plain.start(fixture.with(Plain("users")), queue: queue) { request in
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume(returning: request.response?.status.code)
            } failure: { _, _ in
                continuation.resume(returning: nil)
            }
        }
        #expect(status == 200)
    }

    @Test @MainActor func requestCanBeStartedAgainInItsCallback() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/again", .json(#"{"n":1}"#), .json(#"{"n":2}"#))
        let request = fixture.with(Plain("again"))
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
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        let agent = fixture.agent
        let sender = Task {
            try await Plain("slow").send(on: agent)
        }
        _ = try await fixture.transport.nextRequest()
        sender.cancel()
        let error = await #expect(throws: RequestError.self) { try await sender.value }
        #expect(error?.code == .cancelled)
        #expect(error?.stage == .cancel)
        #expect(fixture.transport.inFlight == 0)
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func totalTimeoutEndsTheRequest() async throws {
        let fixture = AgentFixture { $0.timeouts.total = .seconds(5) }
        fixture.transport.on(.get, "/slow", .silence)
        let task = fixture.agent.start(fixture.with(Plain("slow")).makeDescription())
        _ = try await fixture.transport.nextRequest()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(5))
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .timedOut)
        #expect(error?.timeout == .total)
    }

    @Test func inlineRequestSetsDescriptionMembers() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.post, "/things", .json("{}"))
        let request = fixture.with(
            InlineRequest("things") {
                $0.method = .post
                $0.arguments = ["name": "a b"]
                $0.requestSerializer = .json
            })
        try await request.send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.headers[.contentType]?.hasPrefix("application/json") == true)
        #expect(sent.body?.knownLength == Int64(#"{"name":"a b"}"#.utf8.count))
    }

    @Test func drainingShutdownFinishesActiveRequestsAndRejectsNewOnes() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(.get, "/slow", ScriptedResponse.json("{}").held(by: gate))
        let running = fixture.agent.start(fixture.with(Plain("slow")).makeDescription())
        _ = try await fixture.transport.nextRequest()
        async let shutdown: Void = fixture.agent.shutdown(draining: true)
        gate.open()
        #expect(try await running.response().status == 200)
        await shutdown
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("late")).send()
        }
        #expect(error?.code == .agentShutDown)
    }

    @Test func suspendedTaskContinuesAfterResume() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json("{}"))
        let agent = fixture.agent
        let gate = Gate()
        agent.configuration.headerProvider = {
            try await gate.passed()
            return [:]
        }
        let task = agent.start(fixture.with(Plain("x")).makeDescription())
        try await gate.reached()
        task.suspend()
        gate.open()
        #expect(task.phase == .suspended)
        #expect(fixture.transport.requests.isEmpty)
        task.resume()
        #expect(try await task.response().status == 200)
        #expect(task.phase == .ended)
    }
}
