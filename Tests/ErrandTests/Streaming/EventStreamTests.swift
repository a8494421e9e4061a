import Errand
import ErrandTesting
import TestSupport
import Testing

/// `EventStream` delivers events as async sequences.
@Suite(.limited) struct EventStreamTests {
    private let stream = EventStream()

    private func fixture() -> AgentFixture {
        let fixture = AgentFixture { $0.eventListeners.append(stream) }
        fixture.transport.respond { _ in .json("{}") }
        return fixture
    }

    @Test func readerReceivesAllEventsInOrder() async throws {
        let fixture = fixture()
        let events = stream.events()
        try await fixture.with(Plain("x")).send()
        stream.finish()
        var uptimes: [Duration] = []
        for await event in events { uptimes.append(event.uptime) }
        #expect(uptimes == fixture.events.events.map(\.uptime))
        #expect(uptimes.count > 5)
    }

    @Test func filteredReaderReceivesMatchingEventsOfAllTasks() async throws {
        let fixture = fixture()
        let ends = stream.events {
            if case .ended = $0.kind { $0.tag == 7 } else { false }
        }
        for tag in [1, 7, 2, 7] {
            let request = fixture.with(Plain("x"))
            request.tag = tag
            try await request.send()
        }
        stream.finish()
        var count = 0
        for await _ in ends { count += 1 }
        #expect(count == 2)
    }

    @Test func limitedBufferKeepsTheNewestEvents() async throws {
        let fixture = fixture()
        let last = stream.events(keeping: 1)
        try await fixture.with(Plain("x")).send()
        stream.finish()
        var names: [String] = []
        for await event in last { if case .ended = event.kind { names.append("ended") } }
        #expect(names == ["ended"])
    }

    @Test func cancelledReaderIsRemovedAndLateReaderEndsAtOnce() async throws {
        let fixture = fixture()
        let reader = Task { [stream] in
            for await _ in stream.events() { break }
        }
        while !reader.isCancelled {
            try await fixture.with(Plain("x")).send()
            reader.cancel()
        }
        await reader.value
        stream.finish()
        for await _ in stream.events() { Issue.record("an event after the end") }
    }

    /// The deinitializer of an object that a predicate holds may call the stream: under the lock it would deadlock.
    @Test func predicateIsReleasedOutsideTheLock() async throws {
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
        for await _ in events { Issue.record("an event after the end") }
    }
}
