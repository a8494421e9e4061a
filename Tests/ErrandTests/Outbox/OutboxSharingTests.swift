import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Several outboxes with one file: each entry is sent by one of them, in order; another takes over after a crash.
@Suite(.limited) struct OutboxSharingTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "errand-shared-outbox-\(UUID().uuidString)")

    private var path: String { directory.appending(path: "outbox.sqlite").path }

    private func outbox(_ fixture: AgentFixture) -> Outbox {
        Outbox(agent: fixture.agent, store: SQLiteOutboxStore(path: path))
    }

    /// Advances the clock until all entries have been delivered.
    private func deliver(_ outbox: Outbox, _ fixture: AgentFixture) async {
        let isDone = Gate()
        await withTaskGroup { group in
            group.addTask {
                await outbox.untilDelivered()
                isDone.open()
            }
            group.addTask {
                while !isDone.isOpen {
                    fixture.clock.advance(by: .seconds(1))
                    await Task.yield()
                }
            }
        }
    }

    @Test func entryInFlightIsNotSentByAnotherOutbox() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let (one, other) = (AgentFixture(), AgentFixture())
        let gate = Gate()
        one.transport.on(nil, nil, .json("{}").held(by: gate))
        other.transport.on(nil, nil, .json("{}"))
        let first = outbox(one)
        try await first.add(.note(1))
        try await first.add(.note(2))
        try await first.add(.note(3, host: "b"))
        try await first.start()
        try await gate.reached(times: 2)
        let second = outbox(other)
        try await second.start()
        // Both origins are leased. The outbox sleeps twice: until it retries the claim, and until it reads the store.
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

    /// All outboxes are in this process; `entriesOfAKilledProcessAreDelivered` uses a second process.
    @Test func concurrentOutboxesSendEachEntryOnceInOrder() async throws {
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
            try await all[number % 3].add(.note(number, host: number % 2 == 0 ? "a" : "b"))
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

    @Test func entryWithAnExpiredLeaseIsDelivered() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        let running = outbox(fixture)
        try await running.start()
        // Another outbox adds an entry, takes a lease, and then stops responding.
        let store = SQLiteOutboxStore(path: path)
        do { try await outbox(AgentFixture()).add(.note(1)) }
        let left = try #require(try await store.entries().first)
        let now = fixture.clock.now
        let claim = try await store.claim(
            left.id,
            lease: OutboxLease(
                owner: UUID(), takenAt: now, expiresAt: now.addingTimeInterval(45)))
        #expect(claim == .granted)
        // The outbox reads the store after 30 s, finds the leased entry, and retries the claim until the lease expires.
        for second in 1...45 {
            try await fixture.clock.untilSleeping(second <= 30 ? 1 : 2)
            #expect(fixture.transport.requests.isEmpty)
            fixture.clock.advance(by: .seconds(1))
        }
        await running.untilDelivered()
        #expect(fixture.transport.requests.map(\.url.query) == ["n=1"])
        await running.stop()
    }

    /// Waits until two timers sleep: the one that reads the store and the one that renews the lease.
    private func untilRenewalSleeps(_ fixture: AgentFixture) async throws {
        try await fixture.clock.untilSleeping(2)
    }

    @Test func leaseIsRenewedWhileARequestIsInFlight() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(nil, nil, .json("{}").held(by: gate))
        let outbox = outbox(fixture)
        try await outbox.start()
        let id = try await outbox.add(.note(1))
        try await gate.reached()
        let store = SQLiteOutboxStore(path: path)
        func claim() async throws -> OutboxClaim {
            let now = fixture.clock.now
            return try await store.claim(
                id, lease: OutboxLease(owner: UUID(), takenAt: now, expiresAt: now))
        }
        for _ in 0..<5 {
            try await untilRenewalSleeps(fixture)
            let before = try await claim()
            fixture.clock.advance(by: .seconds(10))
            // The lease has been renewed when the claim reports another expiry.
            while try await claim() == before { await Task.yield() }
        }
        gate.open()
        await outbox.untilDelivered()
        #expect(fixture.transport.requests.count == 1)
        await outbox.stop()
    }

    @Test func outboxThatLostItsLeaseCancelsTheRequest() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let outbox = outbox(fixture)
        try await outbox.start()
        let id = try await outbox.add(.note(1))
        _ = try await fixture.transport.nextRequest()
        try await untilRenewalSleeps(fixture)
        // As after the machine slept: the lease has expired, and another outbox has taken it.
        let store = SQLiteOutboxStore(path: path)
        let later = fixture.clock.now.addingTimeInterval(31)
        let taken = OutboxLease(
            owner: UUID(), takenAt: later, expiresAt: later.addingTimeInterval(30))
        #expect(try await store.claim(id, lease: taken) == .granted)
        fixture.clock.advance(by: .seconds(31))
        try await fixture.transport.untilIdle()
        #expect(outbox.entries.first?.isParked == false)
        #expect(fixture.transport.requests.count == 1)
        await outbox.stop()
    }

    @Test func stoppingReleasesTheLease() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let (one, other) = (AgentFixture(), AgentFixture())
        one.transport.on(nil, nil, .silence)
        other.transport.on(nil, nil, .json("{}"))
        let first = outbox(one)
        try await first.start()
        try await first.add(.note(1))
        _ = try await one.transport.nextRequest()
        await first.stop()
        let second = outbox(other)
        try await second.start()
        await second.untilDelivered()
        #expect(other.transport.requests.count == 1)
        await second.stop()
    }

    @Test func parkedEntryIsParkedForAllOutboxesAndAnyCanRetryIt() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let (one, other) = (AgentFixture(), AgentFixture())
        let gate = Gate()
        one.transport.on(nil, nil, .json("{}", status: .badRequest).held(by: gate))
        other.transport.on(nil, nil, .json("{}"))
        let first = outbox(one)
        try await first.start()
        let id = try await first.add(.note(1))
        try await gate.reached()
        let second = outbox(other)
        try await second.start()
        #expect(second.entries.first?.isParked == false)
        gate.open()
        await first.untilDelivered()
        await deliver(second, other)
        #expect(other.transport.requests.isEmpty)
        #expect(second.entries.first?.isParked == true)
        try await second.retry(id)
        await deliver(second, other)
        #expect(other.transport.requests.count == 1)
        await first.stop()
        await second.stop()
    }

    @Test func entriesOfAKilledProcessAreDelivered() async throws {
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
            try await outbox.add(.note(1))
            try await outbox.add(.note(2))
            _ = try await transport.nextRequest()
            kill(getpid(), SIGKILL)
        }
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        fixture.clock.setNow(Date())
        let outbox = outbox(fixture)
        try await outbox.start()
        // The lease of the killed process blocks the entries until it expires.
        try await fixture.clock.untilSleeping(2)
        #expect(fixture.transport.requests.isEmpty)
        #expect(outbox.entries.count == 2)
        fixture.clock.advance(by: .seconds(3601))
        await outbox.untilDelivered()
        #expect(fixture.transport.requests.map(\.url.query) == ["n=1", "n=2"])
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(Set(fixture.transport.requests.compactMap { $0.headers[name] }).count == 2)
        await outbox.stop()
    }
}
