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
        try await other.agent.send(request)
        #expect(counts == [0, 1])
        try await request.send()
        #expect(counts == [1, 1])
        #expect(request.agent === own.agent && request.assignedAgent == nil)
    }

    @Test func valueAndStartUseTheAgentAtTheCall() async throws {
        #expect(try await other.agent.value(GetUser(id: 1)).nick == "a")
        let result = await withCheckedContinuation { continuation in
            other.agent.start(GetUser(id: 2), on: .global()) { continuation.resume(returning: $0) }
        }
        #expect(try result.get().level == 1)
        let response = await withCheckedContinuation { continuation in
            other.agent.start(Plain("x"), on: .global()) { continuation.resume(returning: $0) }
        }
        #expect(try response.get().status == .ok)
        #expect(counts == [0, 3])
    }

    @Test @MainActor func startWithClosuresUsesTheAgentAtTheCall() async {
        let user = await withCheckedContinuation { continuation in
            other.agent.start(GetUser(id: 1)) { continuation.resume(returning: $0.output) }
        }
        #expect(user?.nick == "a")
        let nick = await withCheckedContinuation { continuation in
            other.agent.start(GetUser(id: 1)) { _, result in
                continuation.resume(returning: try? result.get().nick)
            }
        }
        #expect(nick == "a")
        let status = await withCheckedContinuation { continuation in
            other.agent.start(Plain("x")) { _, result in
                continuation.resume(returning: try? result.get().statusCode)
            }
        }
        #expect(status == 200 && counts == [0, 3])
    }

    @Test func agentAtTheCallPerformsAllMembersOfComposites() async throws {
        let inner = ChainRequest()
        inner.add(HubRequest(own.agent))
        let chain = ChainRequest()
        chain.add(BatchRequest([HubRequest(own.agent), own.with(Plain("y"))]))
        chain.add(inner)
        chain.add(HubRequest(own.agent))
        try await other.agent.send(chain)
        #expect(counts == [0, 4])
        try await chain.send()
        #expect(counts == [4, 4])
    }

    /// The accessories of the agent that performs the run are notified, not those of the endpoint's agent.
    @Test func accessoriesOfTheAgentAtTheCallAreNotified() async throws {
        let (first, second) = (LifecycleRecorder(), LifecycleRecorder())
        own.agent.configuration.accessories = [first]
        other.agent.configuration.accessories = [second]
        try await other.agent.send(HubRequest(own.agent))
        #expect(first.lines.isEmpty && second.lines == ["x willStart", "x willStop", "x didStop"])
        try await other.agent.send(BatchRequest([HubRequest(own.agent)]))
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
            let task = other.agent.start(own.with(Plain("held"))) { _ in continuation.resume() }
            task.suspend()
            task.resume()
            gate.open()
        }
        await Task { @MainActor in }.value
        #expect(recorder.lines.contains("held willSuspend"))
        #expect(recorder.lines.contains("held didResume"))
    }

    // MARK: - The deprecated setter

    /// Calls through a protocol, so that the use of the deprecated setter causes no warning.
    private protocol AgentSetting {
        func set(_ agent: RequestAgent?, on request: BaseRequest)
    }

    private struct DeprecatedSetter: AgentSetting {
        @available(*, deprecated, message: "It uses the deprecated setter.")
        func set(_ agent: RequestAgent?, on request: BaseRequest) { request.agent = agent }
    }

    @Test func deprecatedSetterStillChoosesTheAgent() async throws {
        let setter: any AgentSetting = DeprecatedSetter()
        let request = HubRequest(own.agent)
        setter.set(other.agent, on: request)
        try await request.send()
        #expect(counts == [0, 1])
        try await own.agent.send(request)
        #expect(counts == [1, 1])
        setter.set(nil, on: request)
        try await request.send()
        #expect(counts == [2, 1])
        let plain = Plain("x")
        setter.set(other.agent, on: plain)
        #expect(plain.agent === other.agent)
    }
}
