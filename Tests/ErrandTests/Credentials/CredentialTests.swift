import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A token store that counts refreshes.
///
/// A refresh can be held at a gate and can fail.
private final class TokenStore: Sendable {
    struct Revoked: Error {}
    let gate = Gate()
    private let state = Mutex((token: "old", refreshes: 0, fails: false))

    init(held: Bool = false) { if !held { gate.open() } }

    var refreshes: Int { state.withLock { $0.refreshes } }
    func failRefreshes() { state.withLock { $0.fails = true } }

    var authenticator: StandardAuthenticator {
        .bearer { [self] in
            state.withLock { $0.token }
        } refresh: { [self] in
            state.withLock { $0.refreshes += 1 }
            try await gate.passed()
            try state.withLock { state in
                if state.fails { throw Revoked() }
                state.token = "new"
            }
        }
    }
}

private final class Upload: BaseRequest {
    let content: HTTPBody
    init(_ content: HTTPBody) { self.content = content }
    override var url: EndpointURL { "x" }
    override var method: HTTPMethod { .post }
    override var body: HTTPBody? { content }
}

private final class OwnAuthorization: BaseRequest {
    override var url: EndpointURL { "x" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.authorization = .bearer("own")
    }
}

@Suite(.limited) struct CredentialTests {
    private func fixture(
        _ authenticator: any Authenticator, _ hosts: HostPattern = "*.example.com"
    ) -> AgentFixture {
        AgentFixture { $0.authenticators = [hosts: authenticator] }
    }

    /// Accepts requests with the token and responds to all others with status 401.
    private func acceptOnlyToken(_ fixture: AgentFixture, token: String = "new") {
        fixture.transport.respond { request in
            request.headers[.authorization] == "Bearer \(token)"
                ? .json("{}") : ScriptedResponse(status: .unauthorized)
        }
    }

    private func sent(_ fixture: AgentFixture) -> [String?] {
        fixture.transport.requests.map { $0.headers[.authorization] }
    }

    @Test func concurrentUnauthorizedRequestsCauseOneRefresh() async throws {
        let tokens = TokenStore(held: true)
        let fixture = fixture(tokens.authenticator)
        acceptOnlyToken(fixture)
        let tasks = (0..<100).map { _ in fixture.agent.start(Plain("x").makeDescription()) }
        for _ in 0..<100 { _ = try await fixture.transport.nextRequest() }
        try await tokens.gate.reached()
        tokens.gate.open()
        for task in tasks { #expect(try await task.response().status == .ok) }
        #expect(tokens.refreshes == 1)
        #expect(fixture.transport.requests.count == 200)
        #expect(sent(fixture).filter { $0 == "Bearer old" }.count == 100)
    }

    @Test func rejectedCredentialsAreRefreshedOnlyOnce() async throws {
        let tokens = TokenStore()
        let fixture = fixture(tokens.authenticator)
        acceptOnlyToken(fixture, token: "unobtainable")
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status == .unauthorized)
        #expect(fixture.transport.requests.count == 2)
        #expect(tokens.refreshes == 1)
    }

    @Test func failedRefreshFailsAllWaitingRequests() async throws {
        let tokens = TokenStore(held: true)
        tokens.failRefreshes()
        let fixture = fixture(tokens.authenticator)
        acceptOnlyToken(fixture)
        let tasks = (0..<10).map { _ in fixture.agent.start(Plain("x").makeDescription()) }
        for _ in 0..<10 { _ = try await fixture.transport.nextRequest() }
        tokens.gate.open()
        for task in tasks {
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .authenticationFailed)
            #expect(error?.underlying is TokenStore.Revoked)
            #expect(error?.response?.status == .unauthorized)
        }
        #expect(tokens.refreshes == 1)
        #expect(fixture.transport.requests.count == 10)
    }

    @Test func cancellingOneWaiterDoesNotCancelTheRefresh() async throws {
        let tokens = TokenStore(held: true)
        let fixture = fixture(tokens.authenticator)
        acceptOnlyToken(fixture)
        let first = fixture.agent.start(Plain("x").makeDescription())
        try await tokens.gate.reached()
        let second = fixture.agent.start(Plain("x").makeDescription())
        first.cancel()
        let error = await #expect(throws: RequestError.self) { try await first.response() }
        #expect(error?.code == .cancelled)
        tokens.gate.open()
        #expect(try await second.response().status == .ok)
        #expect(tokens.refreshes == 1)
    }

    @Test func everyKindOfBodyIsSentAgainAfterARefresh() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("abc".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = HTTPBody.stream(length: 3) {
            AsyncStream { continuation in
                continuation.yield(Data("abc".utf8))
                continuation.finish()
            }
        }
        for body in [HTTPBody.string("abc"), .file(file), stream] {
            let fixture = fixture(TokenStore().authenticator)
            acceptOnlyToken(fixture)
            try await fixture.with(Upload(body)).send()
            #expect(sent(fixture) == ["Bearer old", "Bearer new"])
            #expect(fixture.transport.requests.allSatisfy { $0.method == .post && $0.body != nil })
        }
    }

    @Test func credentialsAreNotSentToOtherOriginsOrHosts() async throws {
        let name = try #require(HTTPField.Name("X-Mine"))
        let fixture = fixture(.apiKey("k", in: .header(name)))
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(status: .found, headers: [.location: "https://cdn.example.com/y"]))
        fixture.transport.on(
            .get, "/y",
            ScriptedResponse(status: .found, headers: [.location: "https://api.example.com/z"]))
        fixture.transport.on(.get, "/z", .json("{}"))
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("https://other.com/z")).send()
        let keys = fixture.transport.requests.map { $0.headers[name] }
        #expect(keys == ["k", nil, nil, nil])
    }

    @Test func unauthorizedFromAnotherOriginCausesNoRefresh() async throws {
        let tokens = TokenStore()
        let fixture = fixture(tokens.authenticator)
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(status: .found, headers: [.location: "https://evil.com/y"]))
        fixture.transport.on(.get, "/y", ScriptedResponse(status: .unauthorized))
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("x")).send() }
        #expect(tokens.refreshes == 0)
        #expect(sent(fixture) == ["Bearer old", nil])
    }

    @Test func requestsOwnAuthorizationIsNotReplaced() async throws {
        let tokens = TokenStore()
        let fixture = fixture(tokens.authenticator)
        acceptOnlyToken(fixture)
        await #expect(throws: RequestError.self) {
            try await fixture.with(OwnAuthorization()).send()
        }
        #expect(sent(fixture) == ["Bearer own"])
        #expect(tokens.refreshes == 0)
    }

    @Test func refreshCanSendRequestsWithTheSameAgent() async throws {
        let agent = Mutex<RequestAgent?>(nil)
        let token = Mutex("old")
        let fixture = fixture(
            .bearer {
                token.withLock { $0 }
            } refresh: {
                let newToken = try await Plain("token").send(on: agent.withLock { $0 })
                    .json["token"].string
                token.withLock { $0 = newToken ?? "" }
            })
        agent.withLock { $0 = fixture.agent }
        fixture.transport.on(.get, "/token", .json(#"{"token": "new"}"#))
        fixture.transport.respond { request in
            guard request.url.path == "/x" else { return nil }
            return request.headers[.authorization] == "Bearer new"
                ? .json("{}") : ScriptedResponse(status: .unauthorized)
        }
        #expect(try await fixture.with(Plain("x")).send().status == .ok)
        #expect(sent(fixture) == ["Bearer old", nil, "Bearer new"])
        agent.withLock { $0 = nil }
    }

    @Test func basicCredentialsAndQueryKeysAreApplied() async throws {
        let basic = fixture(.basic(user: "Aladdin", password: "open sesame"))
        basic.transport.on(.get, "/x", .json("{}"))
        try await basic.with(Plain("x")).send()
        #expect(sent(basic) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        let colon = fixture(.basic(user: "a:b", password: "c"))
        let error = await #expect(throws: RequestError.self) {
            try await colon.with(Plain("x")).send()
        }
        #expect(error?.code == .authenticationFailed)
        #expect(colon.transport.requests.isEmpty)
        let key = fixture(.apiKey("k&y", in: .query("key")))
        key.transport.on(.get, "/x", .json("{}"))
        let response = try await key.with(Plain("x?a=1")).send()
        #expect(key.transport.requests.first?.url.query == "a=1&key=k%26y")
        #expect(response.url.query == "a=1")
        key.transport.on(.get, "/broken", .json("{"))
        let failure = await #expect(throws: RequestError.self) {
            try await key.with(InlineRequest("broken?a=1") { $0.acceptance.format = .json }).send()
        }
        #expect(failure?.response?.url.query == "a=1")
        var steps = ScriptedResponse.json("{}").steps
        steps.append(.fail(RequestError(.truncatedBody, stage: .transport, "cut")))
        key.transport.on(.get, "/cut", ScriptedResponse(steps: steps))
        let cut = await #expect(throws: RequestError.self) {
            try await key.with(Plain("cut?a=1")).send()
        }
        #expect(cut?.response?.url.query == "a=1")
    }

    @Test func hostPatternForAPublicSuffixIsInvalid() async throws {
        let fixture = fixture(.bearer("t"), "*.com")
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(fixture.transport.requests.isEmpty)
    }
}
