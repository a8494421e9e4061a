import Errand
import ErrandTesting
import Foundation
import Testing

/// What an outbox keeps is bounded, bodies are read when they are sent, and nobody waits for what will not come.
@Suite(.timeLimit(.minutes(5))) struct OutboxLimitTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "errand-outbox-limits-\(UUID().uuidString)")

    private var path: String { directory.appending(path: "outbox.sqlite").path }

    private func note(_ text: String = "note", host: String = "a") -> RequestDescription {
        var description = RequestDescription(
            endpoint: "Note", url: "https://\(host).example.com/notes")
        description.method = .post
        description.body = .string(text)
        return description
    }

    private func world() -> World {
        let world = World()
        world.transport.on(nil, nil, .json("{}"))
        return world
    }

    @Test func oneMoreThanMayBeIsRefusedBeforeItIsWritten() async throws {
        let store = MemoryOutboxStore()
        let world = world()
        let outbox = Outbox(
            agent: world.agent, store: store, policy: OutboxPolicy(maximumEntries: 2))
        try await outbox.add(note("1"))
        try await outbox.add(note("2"))
        let error = await #expect(throws: RequestError.self) { try await outbox.add(note("3")) }
        #expect(error?.code == .queueFull)
        #expect(error?.message.contains("maximumEntries") == true)
        #expect(try await store.entries().count == 2 && outbox.entries.count == 2)
        // What is delivered makes room.
        try await outbox.start()
        #expect(await outbox.untilDelivered())
        try await outbox.add(note("3"))
        #expect(await outbox.untilDelivered())
        await outbox.stop()
    }

    @Test func moreBytesThanMayBeAreRefusedBeforeTheyAreWritten() async throws {
        let store = MemoryOutboxStore()
        let outbox = Outbox(
            agent: world().agent, store: store, policy: OutboxPolicy(maximumBytes: 2000))
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

    @Test func manyAtOnceDoNotGetPastALimit() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = SQLiteOutboxStore(path: path)
        let outbox = Outbox(
            agent: world().agent, store: store, policy: OutboxPolicy(maximumEntries: 5))
        let kept = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    (try? await outbox.add(self.note("\(number)"))) != nil
                }
            }
            var kept = 0
            for await isKept in group where isKept { kept += 1 }
            return kept
        }
        #expect(kept == 5)
        #expect(try await store.entries().count == 5)
    }

    @Test func bodiesStayInTheStoreUntilTheyAreSent() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let world = world()
        world.transport.on(.post, "/notes", .json("{}", status: .serviceUnavailable), .json("{}"))
        let first = Outbox(agent: world.agent, store: SQLiteOutboxStore(path: path))
        let id = try await first.add(note("the text"))
        let store = SQLiteOutboxStore(path: path)
        let second = Outbox(agent: world.agent, store: store)
        try await second.start()
        for entry in [first.entries.first, second.entries.first] {
            #expect(entry?.body == nil && entry?.bodyBytes == 8)
        }
        #expect(try await store.entry(id)?.body == Data("the text".utf8))
        #expect(try await store.outlines(after: .min).map(\.body) == [nil])
        // The refusal is written, and the body is still there.
        try await world.events.until { $0.contains { "\($0.kind)".hasPrefix("ended") } }
        while try await store.entry(id)?.refusals == 0 { await Task.yield() }
        #expect(try await store.entry(id)?.body == Data("the text".utf8))
        second.wake()
        #expect(await second.untilDelivered())
        var sent: [String] = []
        for request in world.transport.requests {
            let bytes = try await request.body?.bytes() ?? Data()
            sent.append(String(decoding: bytes, as: UTF8.self))
        }
        #expect(sent == ["the text", "the text"])
        await second.stop()
    }

    @Test func whoeverIsCancelledWaitsNoLonger() async throws {
        let world = World()
        world.transport.on(nil, nil, .silence)
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        try await outbox.add(note())
        try await outbox.start()
        let waiter = Task { await outbox.untilDelivered() }
        _ = try await world.transport.nextRequest()
        waiter.cancel()
        #expect(await waiter.value == false)
        // One that is cancelled before it begins to wait.
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await outbox.untilDelivered()
        }
        late.cancel()
        #expect(await late.value == false)
        await outbox.stop()
    }

    @Test func stoppingEndsTheWaitWithEntriesLeft() async throws {
        let world = World()
        world.transport.on(nil, nil, .silence)
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        #expect(await outbox.untilDelivered())
        try await outbox.add(note())
        // Nobody sends.
        #expect(await outbox.untilDelivered() == false)
        try await outbox.start()
        let waiter = Task { await outbox.untilDelivered() }
        _ = try await world.transport.nextRequest()
        await outbox.stop()
        #expect(await waiter.value == false)
        #expect(outbox.entries.count == 1)
    }

    @Test func aStopWhileItStartsCounts() async throws {
        let world = world()
        world.agent.configuration.reachability = NetworkStatusHub()
        let store = GatedStore()
        let outbox = Outbox(agent: world.agent, store: store)
        try await outbox.add(note())
        let starting = Task { try await outbox.start() }
        try await store.gate.reached()
        await outbox.stop()
        store.gate.open()
        try await starting.value
        #expect(await outbox.untilDelivered() == false)
        #expect(world.transport.requests.isEmpty && world.clock.sleepers == 0)
        // And the next start is one.
        try await outbox.start()
        #expect(await outbox.untilDelivered())
        await outbox.stop()
    }

    /// With thousands of entries each step has to be quick, or this takes minutes.
    @Test func thousandsAreDeliveredInOrder() async throws {
        let world = world()
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        for number in 0..<3000 { try await outbox.add(note("\(number)", host: "h\(number % 3)")) }
        try await outbox.start()
        #expect(await outbox.untilDelivered())
        #expect(world.transport.requests.count == 3000)
        await outbox.stop()
    }

    /// Reading all entries waits at a gate.
    private struct GatedStore: OutboxStore {
        let gate = Gate()
        private let memory = MemoryOutboxStore()

        func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry {
            try await memory.append(entry)
        }
        func update(_ entry: OutboxEntry) async throws(RequestError) {
            try await memory.update(entry)
        }
        func remove(_ id: UUID) async throws(RequestError) { try await memory.remove(id) }
        func entries() async throws(RequestError) -> [OutboxEntry] {
            try? await gate.passed()
            return try await memory.entries()
        }
    }
}
