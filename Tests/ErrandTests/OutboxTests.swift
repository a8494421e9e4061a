import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct OutboxTests {
    private static let gone = RequestError(.cannotConnect, stage: .transport, "Nobody listens.")
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "errand-outbox-\(UUID().uuidString)")

    private var path: String { directory.appending(path: "outbox.sqlite").path }

    @Test func whatOneProcessCouldNotDeliverTheNextOneDoesInOrder() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let first = World()
        first.transport.on(nil, nil, .failure(Self.gone))
        var keys: [String] = []
        do {
            let outbox = Outbox(agent: first.agent, store: SQLiteOutboxStore(path: path))
            try await outbox.start()
            for number in 1...3 {
                keys.append(try await outbox.add(Note(number).describe()).uuidString)
            }
            // The outbox looks after its store now and then, and has tried and waits.
            try await first.clock.untilSleeping(2)
            await outbox.stop()
            #expect(outbox.entries.count == 3)
        }
        // Another process: nothing is left but the file.
        let second = World()
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

    @Test func aHostThatIsBackIsTriedAfterItsPause() async throws {
        let world = World()
        world.transport.on(nil, nil, .failure(Self.gone), .json("{}"))
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        try await outbox.start()
        try await outbox.add(Note(1).describe())
        try await world.clock.untilSleeping()
        #expect(outbox.entries.first?.lastFailure?.hasPrefix("cannotConnect") == true)
        world.clock.advance(by: .seconds(1))
        await outbox.untilDelivered()
        #expect(world.transport.requests.count == 2 && outbox.entries.isEmpty)
        await outbox.stop()
    }

    @Test func aNetworkThatComesBackIsAnOccasion() async throws {
        let network = NetworkStatusHub(NetworkStatus(.none))
        let world = World { $0.reachability = network }
        world.transport.on(nil, nil, .failure(Self.gone), .json("{}"))
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        try await outbox.start()
        try await outbox.add(Note(1).describe())
        try await world.clock.untilSleeping()
        network.update(NetworkStatus(.wifi))
        await outbox.untilDelivered()
        #expect(world.transport.requests.count == 2)
        await outbox.stop()
    }

    @Test func whatIsRefusedForGoodIsKeptWithItsReasonAndBlocksNobody() async throws {
        let world = World()
        world.transport.on(
            nil, nil, .json("{}", status: .badRequest), .json("{}"), .json("{}"))
        let store = MemoryOutboxStore()
        let outbox = Outbox(agent: world.agent, store: store)
        try await outbox.start()
        let bad = try await outbox.add(Note(1).describe())
        try await outbox.add(Note(2).describe())
        await outbox.untilDelivered()
        #expect(outbox.entries.map(\.id) == [bad])
        let kept = try #require(try await store.entries().first)
        #expect(kept.isSetAside && kept.lastFailure?.hasPrefix("unacceptableStatus") == true)
        try await outbox.retry(bad)
        await outbox.untilDelivered()
        #expect(world.transport.requests.count == 3 && outbox.entries.isEmpty)
        await outbox.stop()
    }

    @Test func anAgentThatIsShutDownIsNotAskedOverAndOver() async throws {
        let world = World()
        world.transport.on(nil, nil, .json("{}"))
        await world.agent.shutdown()
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        try await outbox.start()
        try await outbox.add(Note(1).describe())
        // It pauses, as for a host that is away.
        try await world.clock.untilSleeping()
        #expect(world.events.names.count { $0 == "ended" } == 1)
        await outbox.stop()
        #expect(outbox.entries.first?.isSetAside == false)
    }

    @Test func argumentsOfTheConfigurationAreTakenWhenARequestIsAdded() async throws {
        let world = World {
            $0.sharedArguments = ["app": "a"]
            $0.argumentProvider = { ["time": 7] }
        }
        world.transport.on(nil, nil, .json("{}"))
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        try await outbox.add(Note(1).describe())
        let body = outbox.entries.first?.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(body.contains("app=a") && body.contains("time=7") && body.contains("text=note"))
    }

    @Test func secretsAreNotWrittenAndPutOnAnew() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let world = World {
            $0.authenticators = [
                HostAuthenticator("api.example.com", BearerAuthenticator("token-of-now"))
            ]
        }
        world.transport.on(nil, nil, .json("{}"))
        let outbox = Outbox(agent: world.agent, store: SQLiteOutboxStore(path: path))
        var description = Note(1).describe()
        description.authorization = .bearer("token-of-then")
        description.headers[.cookie] = "session=secret"
        try await outbox.add(description)
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        for file in files {
            let bytes = try Data(contentsOf: directory.appending(path: file))
            #expect(bytes.range(of: Data("token-of-then".utf8)) == nil)
            #expect(bytes.range(of: Data("session=secret".utf8)) == nil)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try await outbox.start()
        await outbox.untilDelivered()
        #expect(world.transport.requests.first?.headers[.authorization] == "Bearer token-of-now")
        await outbox.stop()
    }

    @Test func whatCannotBeKeptIsRefusedAtOnce() async throws {
        let world = World()
        let outbox = Outbox(
            agent: world.agent, store: MemoryOutboxStore(),
            policy: OutboxPolicy(maximumBodyBytes: 10))
        var large = Note(1).describe()
        large.body = .string("far more than ten bytes")
        var stream = Note(1).describe()
        stream.body = .stream { AsyncStream<Data> { _ in } }
        var wrong = Note(1).describe()
        wrong.url = "ftp://x"
        for (description, code) in [
            (large, RequestError.Code.invalidBody), (stream, .invalidBody), (wrong, .invalidURL),
        ] {
            let error = await #expect(throws: RequestError.self) {
                try await outbox.add(description)
            }
            #expect(error?.code == code)
        }
        #expect(outbox.entries.isEmpty)
    }

    @Test func aDamagedFileIsAnErrorAndIsNotTouched() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let garbage = Data(repeating: 65, count: 5000)
        try garbage.write(to: URL(fileURLWithPath: path))
        let outbox = Outbox(agent: World().agent, store: SQLiteOutboxStore(path: path))
        let error = await #expect(throws: RequestError.self) { try await outbox.start() }
        #expect(error?.code == .storeFailed)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == garbage)
    }

    private final class Note: BaseRequest {
        private let number: Int
        init(_ number: Int) { self.number = number }
        override var url: String { "notes?n=\(number)" }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { ["text": "note \(number)"] }
    }
}
