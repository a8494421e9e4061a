import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

@Suite(.limited) struct ActivityTests {
    @Test func activityEmitsTheNumberOfActiveRequests() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        var counts = fixture.agent.activity.makeAsyncIterator()
        #expect(await counts.next() == 0)
        let first = fixture.agent.start(Plain("x").makeDescription())
        #expect(await counts.next() == 1)
        let second = fixture.agent.start(Plain("x").makeDescription())
        #expect(await counts.next() == 2)
        #expect(fixture.agent.activity.current == 2)
        first.cancel()
        _ = await first.outcome()
        #expect(await counts.next() == 1)
        second.cancel()
        _ = await second.outcome()
        #expect(await counts.next() == 0)
    }

    @Test func filteredListenerReceivesEventsOfItsEndpointsAndTags() async throws {
        let received = Mutex<Set<String>>([])
        let fixture = AgentFixture { configuration in
            configuration.eventListeners.append(
                FilteredListener(endpoints: ["Plain"], tags: [7]) { event in
                    received.withLock { _ = $0.insert("\(event.endpoint) \(event.tag)") }
                })
        }
        fixture.transport.on(nil, nil, .json(#"{"nick":"a","level":1}"#))
        let tagged = fixture.with(Plain("x"))
        tagged.tag = 7
        try await tagged.send()
        try await fixture.with(Plain("x")).send()
        let other = fixture.with(GetUser(id: 1))
        other.tag = 7
        try await other.send()
        #expect(received.withLock { $0 } == ["Plain 7"])
    }

    @Test func eventsOfOneRequestAreEmittedInOrder() async throws {
        let fixture = AgentFixture()
        var response = ScriptedResponse.json("{}")
        response.timings.connected = .milliseconds(3)
        response.timings.firstByte = .milliseconds(5)
        fixture.transport.on(nil, nil, response)
        try await fixture.with(PostRequest()).send()
        #expect(
            fixture.events.names == [
                "started", "adapted", "attemptStarted", "transferStarted",
                "headReceived", "phase", "phase", "requestBodySent", "bodyReceived",
                "transferEnded", "validated", "attemptEnded", "ended",
            ])
    }

    @Test func deallocatedOwnerCancelsItsTasks() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        var owner: RequestOwner? = RequestOwner()
        let bound = owner.map { fixture.agent.start(Plain("x").makeDescription()).bind(to: $0) }
        let free = fixture.agent.start(Plain("x").makeDescription())
        for _ in 0..<2 { _ = try await fixture.transport.nextRequest() }
        #expect(owner?.count == 1)
        owner = nil
        let error = await #expect(throws: RequestError.self) { try await bound?.response() }
        #expect(error?.code == .cancelled)
        #expect(free.phase.isRunning)
        free.cancel()
        _ = await free.outcome()
    }

    @Test func ownerReleasesEndedTasks() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        let owner = RequestOwner()
        let task = fixture.agent.start(Plain("x").makeDescription())
        task.bind(to: owner)
        _ = try await task.response()
        #expect(owner.count == 0)
        task.bind(to: owner)
        #expect(owner.count == 0)
    }
}
