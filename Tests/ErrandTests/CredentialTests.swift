import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A user's store of tokens: counts renewals, and can be held or fail.
private final class Tokens: Sendable {
    struct Revoked: Error {}
    let gate = Gate()
    private let state = Mutex((token: "old", renewals: 0, fails: false))

    init(held: Bool = false) { if !held { gate.open() } }

    var renewals: Int { state.withLock { $0.renewals } }
    func failFromNowOn() { state.withLock { $0.fails = true } }

    var authenticator: BearerAuthenticator {
        BearerAuthenticator { [self] in
            state.withLock { $0.token }
        } refresh: { [self] in
            state.withLock { $0.renewals += 1 }
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
    override var url: String { "x" }
    override var method: HTTPMethod { .post }
    override var body: HTTPBody? { content }
}

private final class OwnHeader: BaseRequest {
    override var url: String { "x" }
    override var authorization: Authorization? { .bearer("own") }
}

@Suite(.timeLimit(.minutes(5))) struct CredentialTests {
    private func world(
        _ authenticator: any Authenticator, _ hosts: HostPattern = "*.example.com"
    ) -> World {
        World { $0.authenticators = [HostAuthenticator(hosts, authenticator)] }
    }

    /// Lets requests with a token pass and refuses all others.
    private func guardDoor(_ world: World, token: String = "new") {
        world.transport.answer { request in
            request.headers[.authorization] == "Bearer \(token)"
                ? .json("{}") : ScriptedAnswer(status: .unauthorized)
        }
    }

    private func sent(_ world: World) -> [String?] {
        world.transport.requests.map { $0.headers[.authorization] }
    }

    @Test func aHundredRequestsCauseOneRenewal() async throws {
        let tokens = Tokens(held: true)
        let world = world(tokens.authenticator)
        guardDoor(world)
        let tasks = (0..<100).map { _ in world.agent.start(Plain("x").describe()) }
        for _ in 0..<100 { _ = try await world.transport.nextRequest() }
        try await tokens.gate.reached()
        tokens.gate.open()
        for task in tasks { #expect(try await task.response().status == .ok) }
        #expect(tokens.renewals == 1)
        #expect(world.transport.requests.count == 200)
        #expect(sent(world).filter { $0 == "Bearer old" }.count == 100)
    }

    @Test func refusedCredentialsDoNotLoop() async throws {
        let tokens = Tokens()
        let world = world(tokens.authenticator)
        guardDoor(world, token: "unobtainable")
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status == .unauthorized)
        #expect(world.transport.requests.count == 2)
        #expect(tokens.renewals == 1)
    }

    @Test func aFailedRenewalFailsEverybodyWhoWaits() async throws {
        let tokens = Tokens(held: true)
        tokens.failFromNowOn()
        let world = world(tokens.authenticator)
        guardDoor(world)
        let tasks = (0..<10).map { _ in world.agent.start(Plain("x").describe()) }
        for _ in 0..<10 { _ = try await world.transport.nextRequest() }
        tokens.gate.open()
        for task in tasks {
            let error = await #expect(throws: RequestError.self) { try await task.response() }
            #expect(error?.code == .authenticationFailed)
            #expect(error?.underlying is Tokens.Revoked)
            #expect(error?.response?.status == .unauthorized)
        }
        #expect(tokens.renewals == 1)
        #expect(world.transport.requests.count == 10)
    }

    @Test func cancellingOneWhoWaitsLeavesTheOthersTheirRenewal() async throws {
        let tokens = Tokens(held: true)
        let world = world(tokens.authenticator)
        guardDoor(world)
        let first = world.agent.start(Plain("x").describe())
        try await tokens.gate.reached()
        let second = world.agent.start(Plain("x").describe())
        first.cancel()
        let error = await #expect(throws: RequestError.self) { try await first.response() }
        #expect(error?.code == .cancelled)
        tokens.gate.open()
        #expect(try await second.response().status == .ok)
        #expect(tokens.renewals == 1)
    }

    @Test func everyKindOfBodyIsSentAgain() async throws {
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
            let world = world(Tokens().authenticator)
            guardDoor(world)
            try await world.with(Upload(body)).send()
            #expect(sent(world) == ["Bearer old", "Bearer new"])
            #expect(world.transport.requests.allSatisfy { $0.method == .post && $0.body != nil })
        }
    }

    @Test func nothingCrossesAnOriginOrTouchesOtherHosts() async throws {
        let name = try #require(HTTPField.Name("X-Mine"))
        let world = world(APIKeyAuthenticator("k", in: .header(name)))
        world.transport.on(
            .get, "/x",
            ScriptedAnswer(status: .found, headers: [.location: "https://cdn.example.com/y"]))
        world.transport.on(
            .get, "/y",
            ScriptedAnswer(status: .found, headers: [.location: "https://api.example.com/z"]))
        world.transport.on(.get, "/z", .json("{}"))
        try await world.with(Plain("x")).send()
        try await world.with(Plain("https://other.com/z")).send()
        let keys = world.transport.requests.map { $0.headers[name] }
        #expect(keys == ["k", nil, nil, nil])
    }

    @Test func anotherOriginsRefusalIsNotAnswered() async throws {
        let tokens = Tokens()
        let world = world(tokens.authenticator)
        world.transport.on(
            .get, "/x", ScriptedAnswer(status: .found, headers: [.location: "https://evil.com/y"]))
        world.transport.on(.get, "/y", ScriptedAnswer(status: .unauthorized))
        await #expect(throws: RequestError.self) { try await world.with(Plain("x")).send() }
        #expect(tokens.renewals == 0)
        #expect(sent(world) == ["Bearer old", nil])
    }

    @Test func aRequestsOwnAuthorizationIsLeftAlone() async throws {
        let tokens = Tokens()
        let world = world(tokens.authenticator)
        guardDoor(world)
        await #expect(throws: RequestError.self) { try await world.with(OwnHeader()).send() }
        #expect(sent(world) == ["Bearer own"])
        #expect(tokens.renewals == 0)
    }

    @Test func theRenewalMayUseTheSameAgent() async throws {
        let agent = Mutex<RequestAgent?>(nil)
        let token = Mutex("old")
        let world = world(
            BearerAuthenticator {
                token.withLock { $0 }
            } refresh: {
                let request = Plain("token")
                request.agent = agent.withLock { $0 }
                let made = try await request.send().json["token"].string
                token.withLock { $0 = made ?? "" }
            })
        agent.withLock { $0 = world.agent }
        world.transport.on(.get, "/token", .json(#"{"token": "new"}"#))
        world.transport.answer { request in
            guard request.url.path == "/x" else { return nil }
            return request.headers[.authorization] == "Bearer new"
                ? .json("{}") : ScriptedAnswer(status: .unauthorized)
        }
        #expect(try await world.with(Plain("x")).send().status == .ok)
        #expect(sent(world) == ["Bearer old", nil, "Bearer new"])
        agent.withLock { $0 = nil }
    }

    @Test func basicAndKeysInTheQuery() async throws {
        let basic = world(BasicAuthenticator(user: "Aladdin", password: "open sesame"))
        basic.transport.on(.get, "/x", .json("{}"))
        try await basic.with(Plain("x")).send()
        #expect(sent(basic) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        let colon = world(BasicAuthenticator(user: "a:b", password: "c"))
        let error = await #expect(throws: RequestError.self) {
            try await colon.with(Plain("x")).send()
        }
        #expect(error?.code == .authenticationFailed)
        #expect(colon.transport.requests.isEmpty)
        let key = world(APIKeyAuthenticator("k&y", in: .query("key")))
        key.transport.on(.get, "/x", .json("{}"))
        let response = try await key.with(Plain("x?a=1")).send()
        #expect(key.transport.requests.first?.url.query == "a=1&key=k%26y")
        #expect(response.url.query == "a=1")
        key.transport.on(.get, "/broken", .json("{"))
        let failure = await #expect(throws: RequestError.self) {
            try await key.with(Plain("broken?a=1")).send()
        }
        #expect(failure?.response?.url.query == "a=1")
        var steps = ScriptedAnswer.json("{}").steps
        steps.append(.fail(RequestError(.truncatedBody, stage: .transport, "cut")))
        key.transport.on(.get, "/cut", ScriptedAnswer(steps: steps))
        let cut = await #expect(throws: RequestError.self) {
            try await key.with(Plain("cut?a=1")).send()
        }
        #expect(cut?.response?.url.query == "a=1")
    }

    @Test func aPatternThatSpansStrangersFails() async throws {
        let world = world(BearerAuthenticator("t"), "*.com")
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(world.transport.requests.isEmpty)
    }
}
