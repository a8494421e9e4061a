import Errand
import ErrandTesting
import Testing

private final class Particular: BaseRequest {
    override var url: String { "x" }
    override var headers: HTTPFields { [.accept: "own"] }
}

@Suite(.timeLimit(.minutes(5))) struct EnvironmentTests {
    let world = World {
        $0.environments = [
            "staging": .init(
                baseURL: "https://staging.example.com/v2/",
                cdnURL: "https://cdn.staging.example.com/",
                headers: [.accept: "staging"]),
            "bare": .init(),
        ]
        $0.sharedHeaders = [.accept: "shared"]
    }

    @Test func switchingKeepsRunningTasksWhereTheyAre() async throws {
        let gate = Gate()
        world.transport.on(.get, nil, ScriptedAnswer.json("{}").held(by: gate))
        let before = world.agent.start(Plain("x").describe())
        _ = try await world.transport.nextRequest()
        world.agent.configuration.environment = "staging"
        let after = world.agent.start(Plain("x").describe())
        _ = try await world.transport.nextRequest()
        gate.open()
        #expect(try await before.response().url.string == "https://api.example.com/x")
        #expect(try await after.response().url.string == "https://staging.example.com/v2/x")
    }

    @Test func headersStandBetweenSharedAndOwn() async throws {
        world.transport.on(.get, nil, .json("{}"))
        try await world.with(Plain("x")).send()
        world.agent.configuration.environment = "staging"
        try await world.with(Plain("x")).send()
        try await world.with(Particular()).send()
        world.agent.configuration.environment = "bare"
        try await world.with(Plain("x")).send()
        let accepts = world.transport.requests.map { $0.headers[.accept] }
        #expect(accepts == ["shared", "staging", "own", "shared"])
        #expect(world.transport.requests.last?.url.host == "api.example.com")
    }

    @Test func anUnknownNameFailsAndSaysWhichThereAre() async throws {
        world.agent.configuration.environment = "stagnig"
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("bare, staging") == true)
        #expect(world.transport.requests.isEmpty)
    }

    @Test func headersOfHosts() async throws {
        world.agent.configuration.hostHeaders = [
            "*.example.com": [.accept: "wide", .from: "me"],
            "api.example.com": [.accept: "narrow"],
            "elsewhere.com": [.accept: "elsewhere"],
        ]
        world.transport.on(
            .get, "/x",
            ScriptedAnswer(status: .found, headers: [.location: "https://elsewhere.com/y"]))
        world.transport.on(.get, "/y", .json("{}"))
        try await world.with(Plain("x")).send()
        #expect(world.transport.requests[0].headers[.accept] == "narrow")
        #expect(world.transport.requests[0].headers[.from] == "me")
        #expect(world.transport.requests[1].headers[.from] == nil)
        try await world.with(Particular()).send()
        #expect(world.transport.requests[2].headers[.accept] == "own")
        world.agent.configuration.hostHeaders = ["*.com": [.accept: "all"]]
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func patternsThatMatchNothingAreMistakesEverywhere() async throws {
        world.transport.on(nil, nil, .json("{}"))
        let faulty: [(String, (inout Configuration) -> Void)] = [
            ("hostHeaders", { $0.hostHeaders = ["*.com": [.accept: "all"]] }),
            ("hostArguments", { $0.hostArguments = ["*.com": ["a": 1]] }),
            ("hostRateLimits", { $0.hostRateLimits["*.com"] = Self.slow }),
        ]
        for (name, spoil) in faulty {
            var configuration = world.agent.configuration
            spoil(&configuration)
            let agent = RequestAgent(configuration: configuration, transport: world.transport)
            let error = await #expect(throws: RequestError.self) {
                let request = Plain("x")
                request.agent = agent
                try await request.send()
            }
            #expect(error?.code == .invalidConfiguration, "\(name)")
            #expect(error?.message.contains(name) == true)
        }
        #expect(world.transport.requests.isEmpty)
    }

    private static let slow = RateLimit(requests: 1, per: .seconds(60))

    @Test func theMoreParticularRateLimitCountsAndCaseDoesNot() async throws {
        world.transport.on(nil, nil, .json("{}"))
        world.agent.configuration.hostRateLimits = [
            "*.Example.com": Self.slow,
            "API.example.com": RateLimit(requests: 1000, per: .seconds(1)),
        ]
        for _ in 0..<3 { try await world.with(Plain("x")).send() }
        try await world.with(Plain("https://WWW.example.com/x")).send()
        let task = world.agent.start(Plain("https://www.EXAMPLE.com/x").describe())
        try await world.clock.untilSleeping()
        #expect(world.transport.requests.count == 4)
        task.cancel()
        _ = await task.outcome()
    }
}
