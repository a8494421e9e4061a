import Errand
import ErrandTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ActivityTests {
    @Test func theNumberOfRequestsUnderWayIsASequence() async throws {
        let world = World()
        world.transport.on(nil, nil, .silence)
        var numbers = world.agent.activity.makeAsyncIterator()
        #expect(await numbers.next() == 0)
        let first = world.agent.start(Plain("x").describe())
        #expect(await numbers.next() == 1)
        let second = world.agent.start(Plain("x").describe())
        #expect(await numbers.next() == 2)
        #expect(world.agent.activity.current == 2)
        first.cancel()
        _ = await first.outcome()
        #expect(await numbers.next() == 1)
        second.cancel()
        _ = await second.outcome()
        #expect(await numbers.next() == 0)
    }

    @Test func listenersHearOfTheEndpointsAndTagsTheyAskedFor() async throws {
        let heard = Mutex<Set<String>>([])
        let world = World { configuration in
            configuration.eventListeners.append(
                FilteredListener(endpoints: ["Plain"], tags: [7]) { event in
                    heard.withLock { _ = $0.insert("\(event.endpoint) \(event.tag)") }
                })
        }
        world.transport.on(nil, nil, .json(#"{"nick":"a","level":1}"#))
        let tagged = world.with(Plain("x"))
        tagged.tag = 7
        try await tagged.send()
        try await world.with(Plain("x")).send()
        let other = world.with(GetUser(id: 1))
        other.tag = 7
        try await other.send()
        #expect(heard.withLock { $0 } == ["Plain 7"])
    }

    @Test func theEventsOfOneRequestInOrder() async throws {
        let world = World()
        var answer = ScriptedAnswer.json("{}")
        answer.timings.connected = .milliseconds(3)
        answer.timings.firstByte = .milliseconds(5)
        world.transport.on(nil, nil, answer)
        try await world.with(Posting()).send()
        #expect(
            world.events.names == [
                "started", "adapted", "cacheMiss", "attemptStarted", "transferStarted",
                "headReceived", "phase", "phase", "requestBodySent", "bodyReceived",
                "transferEnded", "validated", "attemptEnded", "ended",
            ])
    }

    @Test func tasksEndWithTheirOwner() async throws {
        let world = World()
        world.transport.on(nil, nil, .silence)
        var owner: RequestOwner? = RequestOwner()
        let bound = owner.map { world.agent.start(Plain("x").describe()).bind(to: $0) }
        let free = world.agent.start(Plain("x").describe())
        for _ in 0..<2 { _ = try await world.transport.nextRequest() }
        #expect(owner?.count == 1)
        owner = nil
        let error = await #expect(throws: RequestError.self) { try await bound?.response() }
        #expect(error?.code == .cancelled)
        #expect(free.phase.isRunning)
        free.cancel()
        _ = await free.outcome()
    }

    @Test func anOwnerForgetsWhatHasEnded() async throws {
        let world = World()
        world.transport.on(nil, nil, .json("{}"))
        let owner = RequestOwner()
        let task = world.agent.start(Plain("x").describe())
        task.bind(to: owner)
        _ = try await task.response()
        #expect(owner.count == 0)
        task.bind(to: owner)
        #expect(owner.count == 0)
    }
}
