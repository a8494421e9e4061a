import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// No entry of an origin is sent between the end of an attempt and the write of its result to the store.
@Suite(.limited) struct OutboxWriteOrderTests {
    @Test(arguments: [HTTPResponse.Status.ok, .badRequest])
    func nextEntryIsNotSentBeforeTheResultIsWritten(status: HTTPResponse.Status) async throws {
        let fixture = AgentFixture()
        let store = OutboxTestStore(holding: .write(1))
        let earlyRequests = Mutex<[String]>([])
        fixture.transport.respond { request in
            if request.url.host == "a.example.com", store.writing > 0 {
                earlyRequests.withLock { $0.append(request.url.query ?? "") }
            }
            return .json("{}", status: request.url.query == "n=1" ? status : .ok)
        }
        let outbox = Outbox(agent: fixture.agent, store: store)
        try await outbox.start()
        try await outbox.add(.note(1))
        try await store.gate.reached()
        try await outbox.add(.note(2))
        outbox.wake()
        // An entry of another origin does not wait. When it has been delivered, an incorrect outbox would have sent
        // the second entry.
        try await outbox.add(.note(3, host: "b"))
        try await store.firstChange.passed()
        #expect(store.changes == ["removed"])
        #expect(outbox.entries.map(\.sequence).contains(2))
        store.gate.open()
        await outbox.untilDelivered()
        #expect(earlyRequests.withLock { $0 } == [])
        #expect(fixture.transport.requests.count == 3)
        await outbox.stop()
    }

    @Test func retryIsWrittenAfterTheEntryWasParked() async throws {
        let fixture = AgentFixture()
        let store = OutboxTestStore(holding: .write(1))
        fixture.transport.on(nil, nil, .json("{}", status: .badRequest), .json("{}"))
        let outbox = Outbox(agent: fixture.agent, store: store)
        try await outbox.start()
        let id = try await outbox.add(.note(1))
        try await store.gate.reached()
        #expect(outbox.entries.first?.isParked == true)
        let retry = Task { try await outbox.retry(id) }
        for _ in 0..<100 { await Task.yield() }
        store.gate.open()
        try await retry.value
        await outbox.untilDelivered()
        #expect(store.changes == ["parked", "unparked", "removed"])
        #expect(fixture.transport.requests.count == 2)
        await outbox.stop()
    }

    /// Two concurrent retries of one entry write it once, and not after the result of the next attempt.
    @Test func concurrentRetriesAreWrittenOnce() async throws {
        let fixture = AgentFixture()
        let store = OutboxTestStore(holding: .write(2))
        fixture.transport.on(nil, nil, .json("{}", status: .badRequest))
        let outbox = Outbox(agent: fixture.agent, store: store)
        try await outbox.start()
        let id = try await outbox.add(.note(1))
        await outbox.untilDelivered()
        let first = Task { try await outbox.retry(id) }
        try await store.gate.reached()
        try await outbox.retry(id)
        store.gate.open()
        try await first.value
        await outbox.untilDelivered()
        #expect(store.changes == ["parked", "unparked", "parked"])
        #expect(try await store.entries().first?.isParked == true)
        await outbox.stop()
    }
}
