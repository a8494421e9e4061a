import Errand
import ErrandTesting
import Testing

/// One user's answer on its way is never another's.
@Suite(.timeLimit(.minutes(5))) struct DuplicateOwnerTests {
    private let gate = Gate()

    private func world(_ configure: (inout Configuration) -> Void = { _ in }) -> World {
        let world = World(configure)
        world.transport.on(.get, "/shared", ScriptedAnswer.json("{}").held(by: gate))
        return world
    }

    private func start(
        _ world: World, _ policy: DuplicatePolicy = .join
    ) -> RequestTask {
        world.agent.start(InlineRequest("shared") { $0.duplicatePolicy = policy }.describe())
    }

    private func until(_ name: String, _ count: Int, in world: World) async throws {
        try await world.events.until { events in
            events.count { String(describing: $0.kind).hasPrefix(name) } == count
        }
    }

    private func bearer(_ token: String) -> [HostAuthenticator] {
        [HostAuthenticator("api.example.com", BearerAuthenticator(token))]
    }

    @Test func otherCredentialsAreAnotherRequest() async throws {
        let world = world { $0.authenticators = bearer("a") }
        let first = start(world)
        _ = try await world.transport.nextRequest()
        // A change that has nothing to do with it.
        world.agent.configuration.timeouts.connect = .seconds(7)
        let second = start(world)
        try await until("joined", 1, in: world)
        world.agent.configuration.authenticators = bearer("b")
        let third = start(world)
        _ = try await world.transport.nextRequest()
        gate.open()
        for task in [first, second, third] { _ = try await task.response() }
        #expect(
            world.transport.requests.map { $0.headers[.authorization] } == ["Bearer a", "Bearer b"])
    }

    @Test func anotherJarIsAnotherRequest() async throws {
        let world = world { $0.cookieJar = CookieJar() }
        let first = start(world)
        _ = try await world.transport.nextRequest()
        world.agent.configuration.cookieJar = CookieJar()
        let second = start(world)
        _ = try await world.transport.nextRequest()
        gate.open()
        for task in [first, second] { _ = try await task.response() }
        #expect(!world.events.names.contains("joined"))
    }

    @Test func anotherSessionInTheSameJarIsNotJoined() async throws {
        let world = world()
        let first = start(world)
        _ = try await world.transport.nextRequest()
        let url = try #require(world.transport.requests.first?.url)
        _ = world.agent.cookieJar.receive("session=b; Path=/", from: url)
        let second = start(world)
        _ = try await world.transport.nextRequest()
        let third = start(world)
        try await until("joined", 1, in: world)
        gate.open()
        for task in [first, second, third] { _ = try await task.response() }
        #expect(world.transport.requests.map { $0.headers[.cookie] } == [nil, "session=b"])
    }

    /// A cookie that changes with every answer lets nobody order twice.
    @Test func aChangedCookieIsNoWayAroundRejecting() async throws {
        let world = world()
        let first = start(world, .reject)
        _ = try await world.transport.nextRequest()
        let url = try #require(world.transport.requests.first?.url)
        _ = world.agent.cookieJar.receive("session=b; Path=/", from: url)
        let error = await #expect(throws: RequestError.self) {
            try await start(world, .reject).response()
        }
        #expect(error?.code == .duplicate)
        gate.open()
        _ = try await first.response()
    }
}
