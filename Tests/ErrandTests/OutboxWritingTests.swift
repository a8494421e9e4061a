import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Between the end of an attempt and the moment the store knows of it nobody follows, in any order of events.
@Suite(.timeLimit(.minutes(5))) struct OutboxWritingTests {
    /// A store one of whose changes, most often the first, waits at a gate.
    private final class SlowStore: OutboxStore {
        private let memory = MemoryOutboxStore()
        private let state = Mutex((begun: 0, writing: 0, changes: [String]()))
        private let held: Int
        let gate = Gate()
        /// Open once a change is there.
        let firstChange = Gate()

        init(holding held: Int = 1) { self.held = held }

        /// How many changes have begun and are not there yet.
        var writing: Int { state.withLock { $0.writing } }
        /// What was done, in the order in which it was finished.
        var changes: [String] { state.withLock { $0.changes } }

        func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry {
            try await memory.append(entry)
        }

        func update(_ entry: OutboxEntry) async throws(RequestError) {
            await begin()
            defer { end(entry.isSetAside ? "set aside" : "put back") }
            try await memory.update(entry)
        }

        func remove(_ id: UUID) async throws(RequestError) {
            await begin()
            defer { end("removed") }
            try await memory.remove(id)
        }

        func entries() async throws(RequestError) -> [OutboxEntry] { try await memory.entries() }

        private func begin() async {
            let number = state.withLock { state in
                state.begun += 1
                state.writing += 1
                return state.begun
            }
            if number == held { try? await gate.passed() }
        }

        private func end(_ change: String) {
            state.withLock { state in
                state.writing -= 1
                state.changes.append(change)
            }
            firstChange.open()
        }
    }

    private static func note(_ number: Int, _ host: String) -> RequestDescription {
        var description = RequestDescription(
            endpoint: "Note", url: "https://\(host).example.com/notes?n=\(number)")
        description.method = .post
        description.body = .string("note \(number)")
        return description
    }

    @Test(arguments: [HTTPResponse.Status.ok, .badRequest])
    func nobodyOvertakesAWrite(status: HTTPResponse.Status) async throws {
        let world = World()
        let store = SlowStore()
        let overtakers = Mutex<[String]>([])
        world.transport.answer { request in
            if request.url.host == "a.example.com", store.writing > 0 {
                overtakers.withLock { $0.append(request.url.query ?? "") }
            }
            return .json("{}", status: request.url.query == "n=1" ? status : .ok)
        }
        let outbox = Outbox(agent: world.agent, store: store)
        try await outbox.start()
        try await outbox.add(Self.note(1, "a"))
        try await store.gate.reached()
        try await outbox.add(Self.note(2, "a"))
        outbox.wake()
        // Another origin waits for nobody: by the time it has been served the one behind would have gone.
        try await outbox.add(Self.note(3, "b"))
        try await store.firstChange.passed()
        #expect(store.changes == ["removed"])
        #expect(outbox.entries.map(\.sequence).contains(2))
        store.gate.open()
        await outbox.untilDelivered()
        #expect(overtakers.withLock { $0 } == [])
        #expect(world.transport.requests.count == 3)
        await outbox.stop()
    }

    @Test func whatIsPutBackIsWrittenBehindItsSettingAside() async throws {
        let world = World()
        let store = SlowStore()
        world.transport.on(nil, nil, .json("{}", status: .badRequest), .json("{}"))
        let outbox = Outbox(agent: world.agent, store: store)
        try await outbox.start()
        let id = try await outbox.add(Self.note(1, "a"))
        try await store.gate.reached()
        #expect(outbox.entries.first?.isSetAside == true)
        let retry = Task { try await outbox.retry(id) }
        for _ in 0..<100 { await Task.yield() }
        store.gate.open()
        try await retry.value
        await outbox.untilDelivered()
        #expect(store.changes == ["set aside", "put back", "removed"])
        #expect(world.transport.requests.count == 2)
        await outbox.stop()
    }

    /// Two who put the same entry back: the store hears of it once, and nothing behind what comes of it.
    @Test func whatTwoPutBackIsWrittenOnce() async throws {
        let world = World()
        let store = SlowStore(holding: 2)
        world.transport.on(nil, nil, .json("{}", status: .badRequest))
        let outbox = Outbox(agent: world.agent, store: store)
        try await outbox.start()
        let id = try await outbox.add(Self.note(1, "a"))
        await outbox.untilDelivered()
        let first = Task { try await outbox.retry(id) }
        try await store.gate.reached()
        try await outbox.retry(id)
        store.gate.open()
        try await first.value
        await outbox.untilDelivered()
        #expect(store.changes == ["set aside", "put back", "set aside"])
        #expect(try await store.entries().first?.isSetAside == true)
        await outbox.stop()
    }
}
