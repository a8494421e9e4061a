import Errand
import ErrandTesting
import Foundation
import Testing

/// Several outboxes over one file: each entry is sent by one of them, in order, and by another when that one died.
@Suite(.timeLimit(.minutes(5))) struct OutboxSharingTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "errand-shared-outbox-\(UUID().uuidString)")

    private var path: String { directory.appending(path: "outbox.sqlite").path }

    private static func note(_ number: Int, _ host: String = "a") -> RequestDescription {
        var description = RequestDescription(
            endpoint: "Note", url: "https://\(host).example.com/notes?n=\(number)")
        description.method = .post
        description.body = .string("note \(number)")
        return description
    }

    private func outbox(_ world: World) -> Outbox {
        Outbox(agent: world.agent, store: SQLiteOutboxStore(path: path))
    }

    /// Moves the clock on until nothing is left to send.
    private func deliver(_ outbox: Outbox, _ world: World) async {
        let isDone = Gate()
        await withTaskGroup { group in
            group.addTask {
                await outbox.untilDelivered()
                isDone.open()
            }
            group.addTask {
                while !isDone.isOpen {
                    world.clock.advance(by: .seconds(1))
                    await Task.yield()
                }
            }
        }
    }

    @Test func whatIsUnderWayInOneIsNotSentByAnother() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let (one, other) = (World(), World())
        let gate = Gate()
        one.transport.on(nil, nil, .json("{}").held(by: gate))
        other.transport.on(nil, nil, .json("{}"))
        let first = outbox(one)
        try await first.add(Self.note(1))
        try await first.add(Self.note(2))
        try await first.add(Self.note(3, "b"))
        try await first.start()
        try await gate.reached(times: 2)
        let second = outbox(other)
        try await second.start()
        // Both origins are taken: it sleeps until it asks again, and until it looks again.
        try await other.clock.untilSleeping(2)
        #expect(other.transport.requests.isEmpty)
        gate.open()
        await first.untilDelivered()
        #expect(one.transport.requests.count == 3)
        await deliver(second, other)
        #expect(other.transport.requests.isEmpty && second.entries.isEmpty)
        await first.stop()
        await second.stop()
    }

    /// Real processes are tried in `whatAKilledProcessHadUnderWayIsDelivered`; here both live.
    @Test func togetherTheySendEachOnceAndInOrder() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let transport = ScriptedTransport()
        transport.on(nil, nil, .json("{}"))
        let policy = OutboxPolicy(baseDelay: .milliseconds(100))
        let all = (0..<3).map { _ in
            Outbox(
                agent: RequestAgent(
                    configuration: Configuration(), transport: transport,
                    store: MemoryResponseStore()),
                store: SQLiteOutboxStore(path: path), policy: policy)
        }
        for outbox in all { try await outbox.start() }
        for number in 0..<30 {
            try await all[number % 3].add(Self.note(number, number % 2 == 0 ? "a" : "b"))
        }
        for outbox in all { await outbox.untilDelivered() }
        for outbox in all { await outbox.stop() }
        let sent = transport.requests.map { ($0.url.host ?? "", $0.url.query ?? "") }
        for (host, rest) in [("a.example.com", 0), ("b.example.com", 1)] {
            let numbers = sent.filter { $0.0 == host }.map(\.1)
            #expect(numbers == (0..<15).map { "n=\($0 * 2 + rest)" })
        }
        #expect(try await SQLiteOutboxStore(path: path).entries().isEmpty)
    }

    @Test func whatADeadOneAddedIsFoundAndDelivered() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let world = World()
        world.transport.on(nil, nil, .json("{}"))
        let living = outbox(world)
        try await living.start()
        // Another one adds, takes a lease, and is heard of no more.
        let store = SQLiteOutboxStore(path: path)
        do { try await outbox(World()).add(Self.note(1)) }
        let left = try #require(try await store.entries().first)
        let now = world.clock.now
        let claim = try await store.claim(
            left.id,
            lease: OutboxLease(
                owner: UUID(), takenAt: now, expiresAt: now.addingTimeInterval(45)))
        #expect(claim == .granted)
        // It looks after half a minute, finds the entry, and the lease, and asks until that has lapsed.
        for second in 1...45 {
            try await world.clock.untilSleeping(second <= 30 ? 1 : 2)
            #expect(world.transport.requests.isEmpty)
            world.clock.advance(by: .seconds(1))
        }
        await living.untilDelivered()
        #expect(world.transport.requests.map(\.url.query) == ["n=1"])
        await living.stop()
    }

    /// The look for others sleeps, and the renewal.
    private func untilRenewing(_ world: World) async throws {
        try await world.clock.untilSleeping(2)
    }

    @Test func aLeaseIsRenewedWhileTheServerThinks() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let world = World()
        let gate = Gate()
        world.transport.on(nil, nil, .json("{}").held(by: gate))
        let outbox = outbox(world)
        try await outbox.start()
        let id = try await outbox.add(Self.note(1))
        try await gate.reached()
        let store = SQLiteOutboxStore(path: path)
        func claim() async throws -> OutboxClaim {
            let now = world.clock.now
            return try await store.claim(
                id, lease: OutboxLease(owner: UUID(), takenAt: now, expiresAt: now))
        }
        for _ in 0..<5 {
            try await untilRenewing(world)
            let before = try await claim()
            world.clock.advance(by: .seconds(10))
            // It has renewed when the moment is a later one.
            while try await claim() == before { await Task.yield() }
        }
        gate.open()
        await outbox.untilDelivered()
        #expect(world.transport.requests.count == 1)
        await outbox.stop()
    }

    @Test func whoFindsItsEntryInOtherHandsGivesUp() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let world = World()
        world.transport.on(nil, nil, .silence)
        let outbox = outbox(world)
        try await outbox.start()
        let id = try await outbox.add(Self.note(1))
        _ = try await world.transport.nextRequest()
        try await untilRenewing(world)
        // As after a sleep of the machine: the lease has lapsed, and another one took it.
        let store = SQLiteOutboxStore(path: path)
        let later = world.clock.now.addingTimeInterval(31)
        let taken = OutboxLease(
            owner: UUID(), takenAt: later, expiresAt: later.addingTimeInterval(30))
        #expect(try await store.claim(id, lease: taken) == .granted)
        world.clock.advance(by: .seconds(31))
        try await world.transport.untilIdle()
        #expect(outbox.entries.first?.isSetAside == false)
        #expect(world.transport.requests.count == 1)
        await outbox.stop()
    }

    @Test func whatIsStoppedIsFreeAtOnce() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let (one, other) = (World(), World())
        one.transport.on(nil, nil, .silence)
        other.transport.on(nil, nil, .json("{}"))
        let first = outbox(one)
        try await first.start()
        try await first.add(Self.note(1))
        _ = try await one.transport.nextRequest()
        await first.stop()
        let second = outbox(other)
        try await second.start()
        await second.untilDelivered()
        #expect(other.transport.requests.count == 1)
        await second.stop()
    }

    @Test func whatOneSetAsideIsSetAsideForAllAndAnyCanRetryIt() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let (one, other) = (World(), World())
        let gate = Gate()
        one.transport.on(nil, nil, .json("{}", status: .badRequest).held(by: gate))
        other.transport.on(nil, nil, .json("{}"))
        let first = outbox(one)
        try await first.start()
        let id = try await first.add(Self.note(1))
        try await gate.reached()
        let second = outbox(other)
        try await second.start()
        #expect(second.entries.first?.isSetAside == false)
        gate.open()
        await first.untilDelivered()
        await deliver(second, other)
        #expect(other.transport.requests.isEmpty)
        #expect(second.entries.first?.isSetAside == true)
        try await second.retry(id)
        await deliver(second, other)
        #expect(other.transport.requests.count == 1)
        await first.stop()
        await second.stop()
    }

    @Test func whatAKilledProcessHadUnderWayIsDelivered() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let transport = ScriptedTransport()
            transport.on(nil, nil, .silence)
            let outbox = Outbox(
                agent: RequestAgent(
                    configuration: Configuration(), transport: transport,
                    store: MemoryResponseStore()),
                store: SQLiteOutboxStore(path: path), policy: OutboxPolicy(lease: .seconds(3600)))
            try await outbox.start()
            try await outbox.add(OutboxSharingTests.note(1))
            try await outbox.add(OutboxSharingTests.note(2))
            _ = try await transport.nextRequest()
            kill(getpid(), SIGKILL)
        }
        let world = World()
        world.transport.on(nil, nil, .json("{}"))
        world.clock.setNow(Date())
        let outbox = outbox(world)
        try await outbox.start()
        // The dead one's lease is in the way until it lapses.
        try await world.clock.untilSleeping(2)
        #expect(world.transport.requests.isEmpty)
        #expect(outbox.entries.count == 2)
        world.clock.advance(by: .seconds(3601))
        await outbox.untilDelivered()
        #expect(world.transport.requests.map(\.url.query) == ["n=1", "n=2"])
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(Set(world.transport.requests.compactMap { $0.headers[name] }).count == 2)
        await outbox.stop()
    }
}
