import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore
@testable import ErrandOutbox

private final class Login: BaseRequest {
    override var url: EndpointURL { "login" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.uses.remove(.authenticators)
    }
}

/// A token that an authenticator refreshes by requests to the same agent.
private final class TokenSource: Sendable {
    private let state = Mutex((token: "old", applied: 0, refreshes: 0))
    private let link = Mutex<RequestAgent?>(nil)

    var agent: RequestAgent? {
        get { link.withLock { $0 } }
        set { link.withLock { $0 = newValue } }
    }
    var applied: Int { state.withLock { $0.applied } }
    var refreshes: Int { state.withLock { $0.refreshes } }
    func renew() { state.withLock { $0.token = "new" } }

    func authenticator(
        refresh: @escaping @Sendable (RequestAgent) async throws -> Void
    ) -> StandardAuthenticator {
        .bearer { [self] in
            state.withLock { state in
                state.applied += 1
                return state.token
            }
        } refresh: { [self] in
            state.withLock { $0.refreshes += 1 }
            guard let agent else { return }
            try await refresh(agent)
        }
    }
}

/// Credential refreshes that send requests through the same agent, and refreshes that hang.
@Suite(.limited) struct RefreshDeadlockTests {
    private let source = TokenSource()

    /// An agent whose server accepts the new token, and anything at `/login`.
    private func fixture(
        loginNeedsToken: Bool = false, _ configure: (inout Configuration) -> Void = { _ in },
        refresh: @escaping @Sendable (RequestAgent) async throws -> Void
    ) -> AgentFixture {
        let fixture = AgentFixture {
            $0.authenticators = [
                "*.example.com": source.authenticator(refresh: refresh)
            ]
            configure(&$0)
        }
        source.agent = fixture.agent
        fixture.transport.respond { request in
            let isOpen = request.url.path == "/login" && !loginNeedsToken
            return isOpen || request.headers[.authorization] == "Bearer new"
                ? .json("{}") : ScriptedResponse(status: .unauthorized)
        }
        return fixture
    }

    private func start(_ path: String, _ fixture: AgentFixture) -> RequestTask {
        fixture.agent.start(RequestDescription(endpoint: "Test", url: EndpointURL(raw: path)))
    }

    private func failure(of task: RequestTask) async -> RequestError? {
        await #expect(throws: RequestError.self) { try await task.response() }
    }

    /// Waits until this number of requests waits for the refresh.
    ///
    /// A request that is refused after the limit of a refresh starts another one.
    private func untilWaiting(_ count: Int, _ fixture: AgentFixture) async throws {
        let authenticators = fixture.agent.configuration.authenticators
        let refresher = CredentialRefresher.refresher(of: try #require(authenticators.first?.value))
        while refresher.waitingCount < count { await Task.yield() }
    }

    /// A refresh that runs in a detached task, as a timer or a queue would run it.
    @Test(arguments: [nil, 1])
    func loginWithoutAuthenticatorsDoesNotWaitForTheRefresh(limit: Int?) async throws {
        let fixture = fixture {
            $0.limits.total = limit
        } refresh: { [source] agent in
            let login = Login().makeDescription()
            _ = try await Task.detached { try await agent.start(login).response() }.value
            source.renew()
        }
        defer { source.agent = nil }
        #expect(try await start("x", fixture).response().status == .ok)
        #expect(
            fixture.transport.requests.map { $0.headers[.authorization] } == [
                "Bearer old", nil, "Bearer new",
            ])
    }

    /// A Swift task that an authenticator starts and that outlives the call sends ordinary requests.
    @Test func taskStartedByARefreshSendsOrdinaryRequestsAfterIt() async throws {
        let (mayContinue, continuation) = AsyncStream.makeStream(of: Void.self)
        let later = Mutex<Task<Response, any Error>?>(nil)
        let fixture = fixture { [source] agent in
            later.withLock {
                $0 = Task {
                    for await _ in mayContinue {}
                    let description = RequestDescription(endpoint: "Later", url: "later")
                    return try await agent.start(description).response()
                }
            }
            source.renew()
        }
        defer { source.agent = nil }
        #expect(try await start("x", fixture).response().status == .ok)
        continuation.finish()
        let task = try #require(later.withLock { $0 })
        #expect(try await task.value.status == .ok)
        #expect(fixture.transport.requests.last?.headers[.authorization] == "Bearer new")
    }

    @Test func refreshThatWaitsForItselfEndsWithItsLimit() async throws {
        let fixture = fixture(loginNeedsToken: true) { agent in
            let login = RequestDescription(endpoint: "Login", url: "login")
            _ = try await Task.detached { try await agent.start(login).response() }.value
        }
        defer { source.agent = nil }
        let task = start("x", fixture)
        for _ in 0..<2 { _ = try await fixture.transport.nextRequest() }
        try await fixture.clock.untilSleeping()
        try await untilWaiting(2, fixture)
        fixture.clock.advance(by: .seconds(59))
        #expect(task.phase != .ended)
        fixture.clock.advance(by: .seconds(1))
        let error = await failure(of: task)
        #expect(error?.code == .authenticationFailed)
        #expect(error?.message.contains(".authenticators") == true)
        #expect(error?.message.contains("refreshTimeout") == true)
        #expect(error?.response?.status == .unauthorized)
        for task in fixture.agent.activeTasks { await task.untilEnded() }
    }

    /// The total limit is shorter than that of the refresh: the error names the loop.
    @Test func totalLimitOfARequestThatWaitsForItselfNamesTheRefresh() async throws {
        let fixture = fixture(loginNeedsToken: true) {
            $0.timeouts.total = .seconds(10)
        } refresh: { agent in
            let login = RequestDescription(endpoint: "Login", url: "login")
            _ = try await Task.detached { try await agent.start(login).response() }.value
        }
        defer { source.agent = nil }
        let task = start("x", fixture)
        for _ in 0..<2 { _ = try await fixture.transport.nextRequest() }
        // Two total limits and the limit of the refresh.
        try await fixture.clock.untilSleeping(3)
        try await untilWaiting(2, fixture)
        fixture.clock.advance(by: .seconds(10))
        let error = await failure(of: task)
        #expect(error?.code == .timedOut && error?.timeout == .total)
        #expect(error?.message.contains("waited for a refresh of its credentials") == true)
        #expect(error?.message.contains(".authenticators") == true)
        for task in fixture.agent.activeTasks { await task.untilEnded() }
    }

    @Test func hungRefreshFailsAllWaitersAndTheNext401StartsANewOne() async throws {
        let hung = Gate()
        let isFirst = Atomic(true)
        let fixture = fixture { [source] _ in
            guard isFirst.exchange(false, ordering: .relaxed) else { return source.renew() }
            // Ignores its cancellation.
            await Task { try? await hung.passed() }.value
        }
        defer { source.agent = nil }
        let waiting = (0..<10).map { _ in start("x", fixture) }
        for _ in waiting { _ = try await fixture.transport.nextRequest() }
        try await fixture.events.until { events in
            events.count { if case .credentialsRefused = $0.kind { true } else { false } } == 10
        }
        try await hung.reached()
        try await fixture.clock.untilSleeping()
        try await untilWaiting(waiting.count, fixture)
        fixture.clock.advance(by: .seconds(60))
        for task in waiting { #expect(await failure(of: task)?.code == .authenticationFailed) }
        #expect(source.refreshes == 1)
        #expect(try await start("x", fixture).response().status == .ok)
        #expect(source.refreshes == 2)
        hung.open()
        #expect(try await start("x", fixture).response().status == .ok)
        #expect(source.refreshes == 2)
    }

    @Test func refreshWithoutALimitWaits() async throws {
        let gate = Gate()
        let fixture = AgentFixture {
            $0.authenticators = [
                "*.example.com": GatedAuthenticator(refreshing: gate, refreshTimeout: nil)
            ]
        }
        fixture.transport.on(.get, "/x", ScriptedResponse(status: .unauthorized))
        let task = start("x", fixture)
        try await gate.reached()
        #expect(fixture.clock.sleepers == 0)
        gate.open()
        #expect(await failure(of: task)?.code == .unacceptableStatus)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func refreshTimeoutOfZeroOrLessIsInvalid(limit: Duration) async throws {
        let fixture = AgentFixture {
            $0.authenticators = [
                "*.example.com": .bearer(refreshTimeout: limit) { "t" }
            ]
        }
        #expect(await failure(of: start("x", fixture))?.code == .invalidConfiguration)
        #expect(fixture.transport.requests.isEmpty)
    }

    /// The refreshes of two authenticators send requests that need each other's credentials.
    @Test func refreshesThatWaitForEachOtherFail() async throws {
        let gates = ["a": Gate(), "b": Gate()]
        let link = Mutex<RequestAgent?>(nil)
        func authenticator(_ name: String, needs other: String) -> StandardAuthenticator {
            .bearer {
                name
            } refresh: {
                try await gates[name]?.passed()
                let agent = link.withLock { $0 }
                _ = try await agent?.start(
                    RequestDescription(endpoint: "Inner", url: "https://\(other).example.com/")
                )
                .response()
            }
        }
        let fixture = AgentFixture {
            $0.authenticators = [
                "a.example.com": authenticator("a", needs: "b"),
                "b.example.com": authenticator("b", needs: "a"),
            ]
        }
        link.withLock { $0 = fixture.agent }
        defer { link.withLock { $0 = nil } }
        fixture.transport.respond { _ in ScriptedResponse(status: .unauthorized) }
        let tasks = ["a", "b"].map { start("https://\($0).example.com/", fixture) }
        for gate in gates.values { try await gate.reached() }
        for gate in gates.values { gate.open() }
        var messages = ""
        for task in tasks {
            var error: (any Error)? = await failure(of: task)
            while let current = error as? RequestError {
                messages += current.message
                error = current.underlying
            }
        }
        #expect(messages.contains("wait for each other"))
        #expect(messages.contains(".authenticators"))
    }

    /// The refresh sends the request that caused it, and both would share one transfer.
    @Test func requestOfARefreshDoesNotJoinOneThatWaitsForIt() async throws {
        let description = InlineRequest("x") { $0.sending.duplicates = .join }.makeDescription()
        let fixture = AgentFixture {
            $0.authenticators = [
                "*.example.com": source.authenticator { [source] agent in
                    _ = try await agent.start(description).response()
                    source.renew()
                }
            ]
        }
        source.agent = fixture.agent
        defer { source.agent = nil }
        fixture.transport.respond { request in
            request.headers[.authorization] == "Bearer old"
                ? ScriptedResponse(status: .unauthorized) : .json("{}")
        }
        #expect(try await fixture.agent.start(description).response().status == .ok)
        #expect(fixture.transport.requests.count == 3)
    }

    // MARK: - Requests sent while credentials are provided

    private func selfServing(
        _ login: RequestDescription, _ configure: (inout Configuration) -> Void = { _ in }
    ) -> AgentFixture {
        let fixture = AgentFixture {
            $0.authenticators = [
                "*.example.com": .bearer { [source] in
                    source.renew()
                    guard let agent = source.agent else { return nil }
                    return try await agent.start(login).response().json["token"].string
                }
            ]
            configure(&$0)
        }
        source.agent = fixture.agent
        fixture.transport.on(.get, "/login", .json(#"{"token":"t"}"#))
        fixture.transport.on(.get, "/x", .json("{}"))
        return fixture
    }

    @Test(arguments: [RequestDescription.SendingOptions.Duplicates.allow, .join])
    func tokenClosureThatNeedsItsOwnTokenFailsAtOnce(
        policy: RequestDescription.SendingOptions.Duplicates
    ) async throws {
        let login = InlineRequest("login") { $0.sending.duplicates = policy }.makeDescription()
        let fixture = selfServing(login)
        defer { source.agent = nil }
        for url in ["x", "login"] {
            let task = fixture.agent.start(
                InlineRequest(EndpointURL(raw: url)) { $0.sending.duplicates = policy }
                    .makeDescription())
            let error = await failure(of: task)
            #expect(error?.code == .authenticationFailed)
            #expect(error?.message.contains(".authenticators") == true)
            #expect(error?.message.contains("InlineRequest") == true)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test(arguments: [nil, 1])
    func tokenClosureCanLogInWithoutAuthenticators(limit: Int?) async throws {
        let fixture = selfServing(Login().makeDescription()) { $0.limits.total = limit }
        defer { source.agent = nil }
        #expect(try await start("x", fixture).response().status == .ok)
        #expect(
            fixture.transport.requests.map { $0.headers[.authorization] } == [nil, "Bearer t"])
    }

    // MARK: - Requests without authenticators

    @Test func redirectsOfARequestWithoutAuthenticatorsCarryNoCredentials() async throws {
        let fixture = AgentFixture {
            $0.authenticators = ["*.example.com": .bearer("t")]
        }
        fixture.transport.on(
            .get, "/login", ScriptedResponse(status: .found, headers: [.location: "/next"]))
        fixture.transport.on(.get, "/next", ScriptedResponse(status: .unauthorized))
        #expect(
            await failure(of: fixture.agent.start(Login().makeDescription()))?.code
                == .unacceptableStatus)
        #expect(fixture.transport.requests.map { $0.headers[.authorization] } == [nil, nil])
    }

    @Test func requestWithoutAuthenticatorsDoesNotJoinOneWithThem() async throws {
        let gate = Gate()
        let fixture = AgentFixture {
            $0.authenticators = ["*.example.com": .bearer("t")]
        }
        fixture.transport.on(.get, "/x", ScriptedResponse.json("{}").held(by: gate))
        let tasks = [true, false].map { uses in
            fixture.agent.start(
                InlineRequest("x") {
                    $0.sending.duplicates = .join
                    if !uses { $0.uses.remove(.authenticators) }
                }.makeDescription())
        }
        for _ in tasks { _ = try await fixture.transport.nextRequest() }
        gate.open()
        for task in tasks { _ = try await task.response() }
        #expect(
            Set(fixture.transport.requests.map { $0.headers[.authorization] }) == [
                "Bearer t", nil,
            ])
    }

    @Test func outboxEntryKeepsThatTheRequestHasNoAuthenticators() async throws {
        let request = TransportRequest(url: try HTTPURL(parsing: "https://a.example/"))
        for uses in [true, false] {
            var description = RequestDescription(endpoint: "Test", url: "https://a.example/")
            if !uses { description.uses.remove(.authenticators) }
            let entry = OutboxEntry(request, of: description, at: Date(), body: nil)
            let stored = try JSONDecoder().decode(
                OutboxEntry.self, from: try JSONEncoder().encode(entry))
            #expect(stored.description.uses.contains(.authenticators) == uses)
        }
    }
}
