import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// The refreshes of one authenticator belong to the object, whatever else the configurations contain.
@Suite(.limited) struct SharedRefreshTests {
    /// A token whose refresh waits at a gate, and then sends a request that needs no token.
    private final class TokenSource: Sendable {
        let gate = Gate()
        private let token = RefreshableToken()
        private let state = Mutex((refreshes: 0, agent: RequestAgent?.none))

        var refreshes: Int { state.withLock { $0.refreshes } }
        func connect(to agent: RequestAgent?) { state.withLock { $0.agent = agent } }

        func authenticator() -> StandardAuthenticator {
            .bearer { [token] in
                token.current
            } refresh: { [self] in
                let agent = state.withLock { state in
                    state.refreshes += 1
                    return state.agent
                }
                try await gate.passed()
                _ = try await agent?.start(Plain("login").makeDescription()).response()
                token.refresh()
            }
        }
    }

    private let source = TokenSource()

    /// An agent whose server accepts the new token, and anything at `/login`.
    private func fixture(_ authenticators: [HostPattern: any Authenticator]) -> AgentFixture {
        let fixture = AgentFixture { $0.authenticators = authenticators }
        fixture.transport.respond { request in
            request.url.path == "/login" || request.headers[.authorization] == "Bearer new"
                ? .json("{}") : ScriptedResponse(status: .unauthorized)
        }
        return fixture
    }

    private func start(_ url: EndpointURL, _ fixture: AgentFixture) -> RequestTask {
        fixture.agent.start(RequestDescription(endpoint: "Test", url: url))
    }

    /// Waits until two requests wait for the refresh, or until there is a second refresh.
    private func untilBothWait(for authenticator: any Authenticator) async {
        let refresher = CredentialRefresher.refresher(of: authenticator)
        while refresher.waitingCount < 2, source.refreshes < 2 { await Task.yield() }
    }

    @Test func refreshContinuesWhileOtherEntriesAreSet() async throws {
        let authenticator = source.authenticator()
        let fixture = fixture(["*.example.com": authenticator])
        source.connect(to: fixture.agent)
        defer { source.connect(to: nil) }
        let first = start("first", fixture)
        try await source.gate.reached()
        fixture.agent.configuration.authenticators["other.example"] = .bearer("other")
        fixture.agent.configuration.authenticators = [
            "third.example": .bearer("third"), "*.example.com": authenticator,
        ]
        let second = start("second", fixture)
        await untilBothWait(for: authenticator)
        source.gate.open()
        for task in [first, second] { #expect(try await task.response().status == .ok) }
        #expect(source.refreshes == 1)
        // The refresh sends its request with the new configuration, without this authenticator.
        let login = fixture.transport.requests.filter { $0.url.path == "/login" }
        #expect(login.map { $0.headers[.authorization] } == [nil])
    }

    @Test func agentsThatContainTheSameAuthenticatorShareItsRefresh() async throws {
        let authenticator = source.authenticator()
        let fixtures = [
            fixture(["api.example.com": authenticator]), fixture(["*.example.com": authenticator]),
        ]
        let tasks = fixtures.map { start("x", $0) }
        await untilBothWait(for: authenticator)
        source.gate.open()
        for task in tasks { #expect(try await task.response().status == .ok) }
        #expect(source.refreshes == 1)
    }

    @Test func anAuthenticatorThatReplacesAnotherRefreshesItself() async throws {
        let fixture = fixture(["*.example.com": source.authenticator()])
        let first = start("first", fixture)
        try await source.gate.reached()
        let other = TokenSource()
        other.gate.open()
        fixture.agent.configuration.authenticators["*.example.com"] = other.authenticator()
        #expect(try await start("second", fixture).response().status == .ok)
        #expect(source.refreshes == 1 && other.refreshes == 1)
        source.gate.open()
        #expect(try await first.response().status == .ok)
    }

    @Test(arguments: [
        ("x.a.example.com", "exact"), ("y.a.example.com", "narrow"), ("b.example.com", "wide"),
        ("example.com", nil),
    ])
    func mostSpecificPatternServesAHost(host: String, token: String?) async throws {
        let fixture = AgentFixture {
            $0.authenticators = [
                "*.example.com": .bearer("wide"), "*.a.example.com": .bearer("narrow"),
                "x.a.example.com": .bearer("exact"),
            ]
        }
        fixture.transport.on(nil, nil, .json("{}"))
        _ = try await start(EndpointURL(raw: "https://\(host)/"), fixture).response()
        let sent = fixture.transport.requests.map { $0.headers[.authorization] }
        #expect(sent == [token.map { "Bearer \($0)" }])
    }

    @Test func authenticatorIsReleasedWithTheConfigurationsThatContainIt() {
        weak var released: GatedAuthenticator?
        do {
            let authenticator = GatedAuthenticator()
            released = authenticator
            var configuration = Configuration()
            configuration.authenticators = ["a.example": authenticator]
            let copy = configuration
            configuration.authenticators = [:]
            #expect(copy.authenticators.count == 1)
        }
        #expect(released == nil)
    }
}
