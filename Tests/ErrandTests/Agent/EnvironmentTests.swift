import Errand
import ErrandTesting
import TestSupport
import Testing

private final class OwnAcceptHeader: BaseRequest {
    override var url: EndpointURL { "x" }
    override var headers: HTTPFields { [.accept: "own"] }
}

@Suite(.limited) struct EnvironmentTests {
    let fixture = AgentFixture {
        $0.environments = [
            "staging": .init(
                baseURL: "https://staging.example.com/v2/",
                cdnURL: "https://cdn.staging.example.com/",
                headers: [.accept: "staging"]),
            "bare": .init(),
        ]
        $0.sharedHeaders = [.accept: "shared"]
    }

    @Test func runningTasksKeepTheirEnvironmentAfterASwitch() async throws {
        let gate = Gate()
        fixture.transport.on(.get, nil, ScriptedResponse.json("{}").held(by: gate))
        let before = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.transport.nextRequest()
        fixture.agent.configuration.environment = "staging"
        let after = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.transport.nextRequest()
        gate.open()
        #expect(try await before.response().url.string == "https://api.example.com/x")
        #expect(try await after.response().url.string == "https://staging.example.com/v2/x")
    }

    @Test func environmentHeadersOverrideSharedAndYieldToOwnHeaders() async throws {
        fixture.transport.on(.get, nil, .json("{}"))
        try await fixture.with(Plain("x")).send()
        fixture.agent.configuration.environment = "staging"
        try await fixture.with(Plain("x")).send()
        try await fixture.with(OwnAcceptHeader()).send()
        fixture.agent.configuration.environment = "bare"
        try await fixture.with(Plain("x")).send()
        let accepts = fixture.transport.requests.map { $0.headers[.accept] }
        #expect(accepts == ["shared", "staging", "own", "shared"])
        #expect(fixture.transport.requests.last?.url.host == "api.example.com")
    }

    @Test func unknownEnvironmentFailsAndListsTheKnownNames() async throws {
        fixture.agent.configuration.environment = "stagnig"
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("bare, staging") == true)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func mostSpecificHostHeadersApplyToTheirHostOnly() async throws {
        fixture.agent.configuration.hostHeaders = [
            "*.example.com": [.accept: "wide", .from: "me"],
            "api.example.com": [.accept: "narrow"],
            "elsewhere.com": [.accept: "elsewhere"],
        ]
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(status: .found, headers: [.location: "https://elsewhere.com/y"]))
        fixture.transport.on(.get, "/y", .json("{}"))
        try await fixture.with(Plain("x")).send()
        #expect(fixture.transport.requests[0].headers[.accept] == "narrow")
        #expect(fixture.transport.requests[0].headers[.from] == "me")
        #expect(fixture.transport.requests[1].headers[.from] == nil)
        try await fixture.with(OwnAcceptHeader()).send()
        #expect(fixture.transport.requests[2].headers[.accept] == "own")
        fixture.agent.configuration.hostHeaders = ["*.com": [.accept: "all"]]
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func invalidHostPatternFailsForEachSetting() async throws {
        fixture.transport.on(nil, nil, .json("{}"))
        let invalid: [(String, (inout Configuration) -> Void)] = [
            ("hostHeaders", { $0.hostHeaders = ["*.com": [.accept: "all"]] }),
            ("hostArguments", { $0.hostArguments = ["*.com": ["a": 1]] }),
            ("hostRateLimits", { $0.hostRateLimits["*.com"] = Self.slow }),
        ]
        for (name, change) in invalid {
            var configuration = fixture.agent.configuration
            change(&configuration)
            let agent = RequestAgent(configuration: configuration, transport: fixture.transport)
            let error = await #expect(throws: RequestError.self) {
                try await Plain("x").send(on: agent)
            }
            #expect(error?.code == .invalidConfiguration, "\(name)")
            #expect(error?.message.contains(name) == true)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    private static let slow = RateLimit(requests: 1, per: .seconds(60))

    @Test func mostSpecificHostRateLimitAppliesIgnoringCase() async throws {
        fixture.transport.on(nil, nil, .json("{}"))
        fixture.agent.configuration.hostRateLimits = [
            "*.Example.com": Self.slow,
            "API.example.com": RateLimit(requests: 1000, per: .seconds(1)),
        ]
        for _ in 0..<3 { try await fixture.with(Plain("x")).send() }
        try await fixture.with(Plain("https://WWW.example.com/x")).send()
        let task = fixture.agent.start(Plain("https://www.EXAMPLE.com/x").makeDescription())
        try await fixture.clock.untilSleeping()
        #expect(fixture.transport.requests.count == 4)
        task.cancel()
        _ = await task.outcome()
    }
}
