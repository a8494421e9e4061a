import Dispatch
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Errand

/// Which agent performs a request: the one at the call, the one set on the object, or the endpoint's.
@Suite(.limited) struct AgentAtTheCallTests {
    private let own = AgentFixture()
    private let other = AgentFixture()

    private final class HubRequest: BaseRequest {
        let hub: RequestAgent
        init(_ hub: RequestAgent) { self.hub = hub }
        override var url: EndpointURL { "x" }
        override var agent: RequestAgent { hub }
    }

    init() {
        for fixture in [own, other] {
            fixture.transport.respond { _ in .json(#"{"nick":"a","level":1}"#) }
        }
    }

    private var counts: [Int] { [own, other].map(\.transport.requests.count) }

    @Test func overriddenAgentPerformsTheRequest() async throws {
        try await HubRequest(own.agent).send()
        #expect(counts == [1, 0])
    }

    @Test func sharedAgentIsTheDefault() {
        #expect(Plain("x").agent(atCall: nil) === RequestAgent.shared)
        #expect(InlineRequest("x", agent: own.agent).agent === own.agent)
        #expect(InlineRequest("x").agent === RequestAgent.shared)
    }

    @Test func agentAtTheCallPrecedesTheEndpointsAndIsNotKept() async throws {
        let request = HubRequest(own.agent)
        try await request.send(on: other.agent)
        #expect(counts == [0, 1])
        try await request.send()
        #expect(counts == [1, 1])
        #expect(request.agent === own.agent && request.assignedAgent == nil)
    }

    @Test func valueAndStartUseTheAgentAtTheCall() async throws {
        #expect(try await GetUser(id: 1).value(on: other.agent).nick == "a")
        let result = await GetUser.outputOnQueue(GetUser(id: 2), on: other.agent)
        #expect(try result.get().level == 1)
        let response = await Plain.endedOnQueue(Plain("x"), on: other.agent)
        #expect(try response.get().status == .ok)
        #expect(counts == [0, 3])
    }

    @Test @MainActor func startWithClosuresUsesTheAgentAtTheCall() async {
        let user = await withCheckedContinuation { continuation in
            GetUser(id: 1).start(on: other.agent) { continuation.resume(returning: $0.output) }
        }
        #expect(user?.nick == "a")
        let nick = try? await GetUser(id: 1).endedWithOutput(on: other.agent).get().nick
        #expect(nick == "a")
        let status = try? await Plain("x").ended(on: other.agent).get().statusCode
        #expect(status == 200 && counts == [0, 3])
    }

    @Test func agentAtTheCallPerformsAllMembersOfComposites() async throws {
        let inner = ChainRequest()
        inner.add(HubRequest(own.agent))
        let chain = ChainRequest()
        chain.add(BatchRequest([HubRequest(own.agent), own.with(Plain("y"))]))
        chain.add(inner)
        chain.add(HubRequest(own.agent))
        try await chain.send(on: other.agent)
        #expect(counts == [0, 4])
        try await chain.send()
        #expect(counts == [4, 4])
    }

    /// The accessories of the agent that performs the run are notified, not those of the endpoint's agent.
    @Test func accessoriesOfTheAgentAtTheCallAreNotified() async throws {
        let (first, second) = (LifecycleRecorder(), LifecycleRecorder())
        own.agent.configuration.accessories = [first]
        other.agent.configuration.accessories = [second]
        try await HubRequest(own.agent).send(on: other.agent)
        #expect(first.lines.isEmpty && second.lines == ["x willStart", "x willStop", "x didStop"])
        try await BatchRequest([HubRequest(own.agent)]).send(on: other.agent)
        #expect(first.lines.isEmpty)
        #expect(second.lines.dropFirst(3).first == "BatchRequest willStart")
        #expect(second.lines.last == "BatchRequest didStop" && second.lines.count == 9)
    }

    @Test @MainActor func accessoriesOfTheAgentAtTheCallSeeASuspension() async throws {
        let recorder = LifecycleRecorder()
        other.agent.configuration.accessories = [recorder]
        let gate = Gate()
        other.transport.on(.get, "/held", .json("{}").held(by: gate))
        await withCheckedContinuation { continuation in
            let task = own.with(Plain("held")).start(on: other.agent) { _ in continuation.resume() }
            task.suspend()
            task.resume()
            gate.open()
        }
        await Task { @MainActor in }.value
        #expect(recorder.lines.contains("held willSuspend"))
        #expect(recorder.lines.contains("held didResume"))
    }
}
