import Errand
import ErrandTesting
import TestSupport
import Testing

/// Requests with different credentials or cookies never share a transfer.
@Suite(.limited) struct DuplicateUserTests {
    private let gate = Gate()

    private func fixture(_ configure: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture(configure)
        fixture.transport.on(.get, "/shared", ScriptedResponse.json("{}").held(by: gate))
        return fixture
    }

    private func start(
        _ fixture: AgentFixture, _ policy: RequestDescription.SendingOptions.Duplicates = .join
    ) -> RequestTask {
        fixture.agent.start(
            InlineRequest("shared") { $0.sending.duplicates = policy }.makeDescription())
    }

    private func bearer(_ token: String) -> [HostPattern: any Authenticator] {
        ["api.example.com": .bearer(token)]
    }

    @Test func requestWithOtherCredentialsDoesNotJoin() async throws {
        let fixture = fixture { $0.authenticators = bearer("a") }
        let first = start(fixture)
        _ = try await fixture.transport.nextRequest()
        // A change of the configuration that does not affect the request.
        fixture.agent.configuration.timeouts.connect = .seconds(7)
        let second = start(fixture)
        try await fixture.untilJoined()
        fixture.agent.configuration.authenticators = bearer("b")
        let third = start(fixture)
        _ = try await fixture.transport.nextRequest()
        gate.open()
        for task in [first, second, third] { _ = try await task.response() }
        #expect(
            fixture.transport.requests.map { $0.headers[.authorization] } == [
                "Bearer a", "Bearer b",
            ])
    }

    @Test func requestWithAnotherCookieJarDoesNotJoin() async throws {
        let fixture = fixture { $0.cookieJar = CookieJar() }
        let first = start(fixture)
        _ = try await fixture.transport.nextRequest()
        fixture.agent.configuration.cookieJar = CookieJar()
        let second = start(fixture)
        _ = try await fixture.transport.nextRequest()
        gate.open()
        for task in [first, second] { _ = try await task.response() }
        #expect(!fixture.events.names.contains("joined"))
    }

    @Test func requestWithOtherCookiesDoesNotJoin() async throws {
        let fixture = fixture()
        let first = start(fixture)
        _ = try await fixture.transport.nextRequest()
        let url = try #require(fixture.transport.requests.first?.url)
        _ = fixture.agent.cookieJar.receive("session=b; Path=/", from: url)
        let second = start(fixture)
        _ = try await fixture.transport.nextRequest()
        let third = start(fixture)
        try await fixture.untilJoined()
        gate.open()
        for task in [first, second, third] { _ = try await task.response() }
        #expect(fixture.transport.requests.map { $0.headers[.cookie] } == [nil, "session=b"])
    }

    /// A cookie that changes with every response must not allow a second order.
    @Test func changedCookieDoesNotBypassReject() async throws {
        let fixture = fixture()
        let first = start(fixture, .reject)
        _ = try await fixture.transport.nextRequest()
        let url = try #require(fixture.transport.requests.first?.url)
        _ = fixture.agent.cookieJar.receive("session=b; Path=/", from: url)
        let error = await #expect(throws: RequestError.self) {
            try await start(fixture, .reject).response()
        }
        #expect(error?.code == .duplicate)
        gate.open()
        _ = try await first.response()
    }
}
