import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Limits of an outbox, lazy reading of bodies, and the end of `untilDelivered`.
@Suite(.limited) struct OutboxLimitTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "errand-outbox-limits-\(UUID().uuidString)")

    private var path: String { directory.appending(path: "outbox.sqlite").path }

    private func note(_ text: String = "note", host: String = "a") -> RequestDescription {
        var description = RequestDescription.note(host: host)
        description.body = .string(text)
        return description
    }

    private func fixture() -> AgentFixture {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        return fixture
    }

    @Test func maximumEntriesIsCheckedBeforeWriting() async throws {
        let store = MemoryOutboxStore()
        let fixture = fixture()
        let outbox = Outbox(
            agent: fixture.agent, store: store, policy: OutboxPolicy(maximumEntries: 2))
        try await outbox.add(note("1"))
        try await outbox.add(note("2"))
        let error = await #expect(throws: RequestError.self) { try await outbox.add(note("3")) }
        #expect(error?.code == .queueFull)
        #expect(error?.message.contains("maximumEntries") == true)
        #expect(try await store.entries().count == 2 && outbox.entries.count == 2)
        // Delivered entries make room.
        try await outbox.start()
        #expect(await outbox.untilDelivered())
        try await outbox.add(note("3"))
        #expect(await outbox.untilDelivered())
        await outbox.stop()
    }

    @Test func maximumBytesIsCheckedBeforeWriting() async throws {
        let store = MemoryOutboxStore()
        let outbox = Outbox(
            agent: fixture().agent, store: store, policy: OutboxPolicy(maximumBytes: 2000))
        try await outbox.add(note(String(repeating: "x", count: 1500)))
        let error = await #expect(throws: RequestError.self) {
            try await outbox.add(note(String(repeating: "x", count: 400)))
        }
        #expect(error?.code == .queueFull)
        #expect(error?.message.contains("maximumBytes") == true)
        #expect(try await store.entries().count == 1)
        try await outbox.remove(try #require(outbox.entries.first?.id))
        try await outbox.add(note(String(repeating: "x", count: 400)))
    }

    @Test func concurrentAddsDoNotExceedTheLimit() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = SQLiteOutboxStore(path: path)
        let outbox = Outbox(
            agent: fixture().agent, store: store, policy: OutboxPolicy(maximumEntries: 5))
        let added = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    (try? await outbox.add(self.note("\(number)"))) != nil
                }
            }
            var added = 0
            for await isAdded in group where isAdded { added += 1 }
            return added
        }
        #expect(added == 5)
        #expect(try await store.entries().count == 5)
    }

    @Test func bodiesAreReadFromTheStoreWhenSent() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let fixture = fixture()
        fixture.transport.on(.post, "/notes", .json("{}", status: .serviceUnavailable), .json("{}"))
        let first = Outbox(agent: fixture.agent, store: SQLiteOutboxStore(path: path))
        let id = try await first.add(note("the text"))
        let store = SQLiteOutboxStore(path: path)
        let second = Outbox(agent: fixture.agent, store: store)
        try await second.start()
        for entry in [first.entries.first, second.entries.first] {
            #expect(entry?.body == nil && entry?.bodyBytes == 8)
        }
        #expect(try await store.entry(id)?.body == Data("the text".utf8))
        #expect(try await store.outlines(after: .min).map(\.body) == [nil])
        // The failed attempt is recorded, and the body is still stored.
        try await fixture.events.until { $0.contains { "\($0.kind)".hasPrefix("ended") } }
        while try await store.entry(id)?.refusals == 0 { await Task.yield() }
        #expect(try await store.entry(id)?.body == Data("the text".utf8))
        second.wake()
        #expect(await second.untilDelivered())
        var sent: [String] = []
        for request in fixture.transport.requests {
            let bytes = try await request.body?.bytes() ?? Data()
            sent.append(String(decoding: bytes, as: UTF8.self))
        }
        #expect(sent == ["the text", "the text"])
        await second.stop()
    }

    @Test func cancelledWaiterStopsWaiting() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        try await outbox.add(note())
        try await outbox.start()
        let waiter = Task { await outbox.untilDelivered() }
        _ = try await fixture.transport.nextRequest()
        waiter.cancel()
        #expect(await waiter.value == false)
        // A waiter that is cancelled before it begins to wait.
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await outbox.untilDelivered()
        }
        late.cancel()
        #expect(await late.value == false)
        await outbox.stop()
    }

    @Test func stoppingEndsTheWaitWithEntriesRemaining() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        #expect(await outbox.untilDelivered())
        try await outbox.add(note())
        // The outbox has not been started.
        #expect(await outbox.untilDelivered() == false)
        try await outbox.start()
        let waiter = Task { await outbox.untilDelivered() }
        _ = try await fixture.transport.nextRequest()
        await outbox.stop()
        #expect(await waiter.value == false)
        #expect(outbox.entries.count == 1)
    }

    @Test func stopDuringStartTakesEffect() async throws {
        let fixture = fixture()
        fixture.agent.configuration.reachability = NetworkStatusHub()
        let store = OutboxTestStore(holding: .reads)
        let outbox = Outbox(agent: fixture.agent, store: store)
        try await outbox.add(note())
        let starting = Task { try await outbox.start() }
        try await store.gate.reached()
        await outbox.stop()
        store.gate.open()
        try await starting.value
        #expect(await outbox.untilDelivered() == false)
        #expect(fixture.transport.requests.isEmpty && fixture.clock.sleepers == 0)
        // The next start takes effect.
        try await outbox.start()
        #expect(await outbox.untilDelivered())
        await outbox.stop()
    }

    /// Detects operations that take time in proportion to the number of entries: with them this runs for minutes.
    @Test func thousandsOfEntriesAreDelivered() async throws {
        let fixture = fixture()
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        for number in 0..<3000 { try await outbox.add(note("\(number)", host: "h\(number % 3)")) }
        try await outbox.start()
        #expect(await outbox.untilDelivered())
        #expect(fixture.transport.requestCount == 3000)
        await outbox.stop()
    }
}
