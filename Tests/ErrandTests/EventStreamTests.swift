import Errand
import ErrandTesting
import Testing

/// Events as async sequences (row CB-1).
@Suite(.timeLimit(.minutes(5))) struct EventStreamTests {
    private let stream = EventStream()

    private func world() -> World {
        let world = World { $0.eventListeners.append(stream) }
        world.transport.answer { _ in .json("{}") }
        return world
    }

    @Test func aReaderHearsEverythingInOrder() async throws {
        let world = world()
        let events = stream.events()
        try await world.with(Plain("x")).send()
        stream.finish()
        var uptimes: [Duration] = []
        for await event in events { uptimes.append(event.uptime) }
        #expect(uptimes == world.events.events.map(\.uptime))
        #expect(uptimes.count > 5)
    }

    @Test func aReaderHearsWhatItWantsOfManyTasks() async throws {
        let world = world()
        let ends = stream.events {
            if case .ended = $0.kind { $0.tag == 7 } else { false }
        }
        for tag in [1, 7, 2, 7] {
            let request = world.with(Plain("x"))
            request.tag = tag
            try await request.send()
        }
        stream.finish()
        var count = 0
        for await _ in ends { count += 1 }
        #expect(count == 2)
    }

    @Test func aSlowReaderKeepsTheNewest() async throws {
        let world = world()
        let last = stream.events(keeping: 1)
        try await world.with(Plain("x")).send()
        stream.finish()
        var names: [String] = []
        for await event in last { if case .ended = event.kind { names.append("ended") } }
        #expect(names == ["ended"])
    }

    @Test func whoReadsNoMoreIsForgottenAndWhoComesLateHearsTheEnd() async throws {
        let world = world()
        let reader = Task { [stream] in
            for await _ in stream.events() { break }
        }
        while !reader.isCancelled {
            try await world.with(Plain("x")).send()
            reader.cancel()
        }
        await reader.value
        stream.finish()
        for await _ in stream.events() { Issue.record("an event behind the end") }
    }

    /// What a predicate holds may come back to the stream when it goes; under the lock that would be the end of it.
    @Test func whatAReaderHoldsIsLetGoOfOutsideTheLock() async throws {
        final class Owner: Sendable {
            let stream: EventStream
            init(_ stream: EventStream) { self.stream = stream }
            deinit { stream.finish() }
        }
        func subscribe() -> AsyncStream<RequestEvent> {
            let owner = Owner(stream)
            return stream.events { _ in owner.stream === owner.stream }
        }
        let events = subscribe()
        stream.finish()
        for await _ in events { Issue.record("an event behind the end") }
    }
}
