import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) struct OutboxTests {
    private static let cannotConnect = RequestError(.cannotConnect, stage: .transport, "refused")
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "errand-outbox-\(UUID().uuidString)")

    private var path: String { directory.appending(path: "outbox.sqlite").path }

    @Test func undeliveredEntriesAreDeliveredInOrderAfterARestart() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let first = AgentFixture()
        first.transport.on(nil, nil, .failure(Self.cannotConnect))
        var keys: [String] = []
        do {
            let outbox = Outbox(agent: first.agent, store: SQLiteOutboxStore(path: path))
            try await outbox.start()
            for number in 1...3 {
                keys.append(try await outbox.add(NoteRequest(number).makeDescription()).uuidString)
            }
            // Two sleepers: the periodic read of the store, and the delay before the next attempt.
            try await first.clock.untilSleeping(2)
            await outbox.stop()
            #expect(outbox.entries.count == 3)
        }
        // As in another process: only the file is shared.
        let second = AgentFixture()
        second.transport.on(nil, nil, .json("{}"))
        let outbox = Outbox(agent: second.agent, store: SQLiteOutboxStore(path: path))
        try await outbox.start()
        await outbox.untilDelivered()
        let sent = second.transport.requests
        #expect(sent.map(\.url.query) == ["n=1", "n=2", "n=3"])
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(sent.map { $0.headers[name] } == keys)
        #expect(first.transport.requests.first?.headers[name] == keys.first)
        #expect(sent.allSatisfy { $0.method == .post && $0.headers[.contentType] != nil })
        #expect(try await SQLiteOutboxStore(path: path).entries().isEmpty)
        await outbox.stop()
    }

    @Test func failedDeliveryIsRetriedAfterADelay() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .failure(Self.cannotConnect), .json("{}"))
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        try await outbox.start()
        try await outbox.add(NoteRequest(1).makeDescription())
        try await fixture.clock.untilSleeping()
        #expect(outbox.entries.first?.lastFailure?.hasPrefix("cannotConnect") == true)
        fixture.clock.advance(by: .seconds(1))
        await outbox.untilDelivered()
        #expect(fixture.transport.requests.count == 2 && outbox.entries.isEmpty)
        await outbox.stop()
    }

    @Test func returningNetworkTriggersARetry() async throws {
        let network = NetworkStatusHub(NetworkStatus(.none))
        let fixture = AgentFixture { $0.reachability = network }
        fixture.transport.on(nil, nil, .failure(Self.cannotConnect), .json("{}"))
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        try await outbox.start()
        try await outbox.add(NoteRequest(1).makeDescription())
        try await fixture.clock.untilSleeping()
        network.update(NetworkStatus(.wifi))
        await outbox.untilDelivered()
        #expect(fixture.transport.requests.count == 2)
        await outbox.stop()
    }

    @Test func permanentlyRejectedEntryIsParkedAndBlocksNoOther() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            nil, nil, .json("{}", status: .badRequest), .json("{}"), .json("{}"))
        let store = MemoryOutboxStore()
        let outbox = Outbox(agent: fixture.agent, store: store)
        try await outbox.start()
        let rejected = try await outbox.add(NoteRequest(1).makeDescription())
        try await outbox.add(NoteRequest(2).makeDescription())
        await outbox.untilDelivered()
        #expect(outbox.entries.map(\.id) == [rejected])
        let parked = try #require(try await store.entries().first)
        #expect(parked.isParked && parked.lastFailure?.hasPrefix("unacceptableStatus") == true)
        try await outbox.retry(rejected)
        await outbox.untilDelivered()
        #expect(fixture.transport.requests.count == 3 && outbox.entries.isEmpty)
        await outbox.stop()
    }

    @Test func shutDownAgentIsNotRetriedInALoop() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        await fixture.agent.shutdown()
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        try await outbox.start()
        try await outbox.add(NoteRequest(1).makeDescription())
        // The outbox waits before the next attempt, as for an unreachable host.
        try await fixture.clock.untilSleeping()
        #expect(fixture.events.names.count { $0 == "ended" } == 1)
        await outbox.stop()
        #expect(outbox.entries.first?.isParked == false)
    }

    @Test func configurationArgumentsAreAppliedWhenARequestIsAdded() async throws {
        let fixture = AgentFixture {
            $0.sharedArguments = ["app": "a"]
            $0.argumentProvider = { ["time": 7] }
        }
        fixture.transport.on(nil, nil, .json("{}"))
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        try await outbox.add(NoteRequest(1).makeDescription())
        let body = outbox.entries.first?.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(body.contains("app=a") && body.contains("time=7") && body.contains("text=note"))
    }

    @Test func secretsAreNotStoredAndAreAppliedWhenSent() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let fixture = AgentFixture {
            $0.authenticators = [
                "api.example.com": .bearer("current-token")
            ]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        let outbox = Outbox(agent: fixture.agent, store: SQLiteOutboxStore(path: path))
        var description = NoteRequest(1).makeDescription()
        description.authorization = .bearer("original-token")
        description.headers[.cookie] = "session=secret"
        try await outbox.add(description)
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        for file in files {
            let bytes = try Data(contentsOf: directory.appending(path: file))
            #expect(bytes.range(of: Data("original-token".utf8)) == nil)
            #expect(bytes.range(of: Data("session=secret".utf8)) == nil)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try await outbox.start()
        await outbox.untilDelivered()
        #expect(fixture.transport.requests.first?.headers[.authorization] == "Bearer current-token")
        await outbox.stop()
    }

    @Test func requestThatCannotBeStoredIsRejected() async throws {
        let fixture = AgentFixture()
        let outbox = Outbox(
            agent: fixture.agent, store: MemoryOutboxStore(),
            policy: OutboxPolicy(maximumBodyBytes: 10))
        var large = NoteRequest(1).makeDescription()
        large.body = .string("more than ten bytes")
        var stream = NoteRequest(1).makeDescription()
        stream.body = .stream { AsyncStream<Data> { _ in } }
        var invalid = NoteRequest(1).makeDescription()
        invalid.url = "ftp://x"
        for (description, code) in [
            (large, RequestError.Code.invalidBody), (stream, .invalidBody), (invalid, .invalidURL),
        ] {
            let error = await #expect(throws: RequestError.self) {
                try await outbox.add(description)
            }
            #expect(error?.code == code)
        }
        #expect(outbox.entries.isEmpty)
    }

    @Test func corruptFileFailsStartAndIsNotChanged() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let garbage = Data(repeating: 65, count: 5000)
        try garbage.write(to: URL(fileURLWithPath: path))
        let outbox = Outbox(agent: AgentFixture().agent, store: SQLiteOutboxStore(path: path))
        let error = await #expect(throws: RequestError.self) { try await outbox.start() }
        #expect(error?.code == .storeFailed)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == garbage)
    }

    private final class NoteRequest: BaseRequest {
        private let number: Int
        init(_ number: Int) { self.number = number }
        override var url: EndpointURL { "notes?n=\(number)" }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { ["text": "note \(number)"] }
    }
}
