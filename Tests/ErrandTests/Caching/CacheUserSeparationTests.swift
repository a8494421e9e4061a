import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A text that a test changes.
private final class Secret: Sendable {
    private let state = Mutex("")
    var text: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// Adds credentials that differ each time, as signatures do.
private final class Signer: Authenticator {
    private let count = Atomic(0)
    func apply(to request: inout TransportRequest) async throws {
        let number = count.add(1, ordering: .relaxed).newValue
        request.headers[.authorization] = "Signature \(number)"
    }
}

/// Without a cache identity, stored responses of two users are separate, whatever kind of credentials they have.
@Suite(.limited) struct CacheUserSeparationTests {
    enum Mode: CaseIterable { case time, http }

    private let secret = Secret()

    /// A server that responds with a new number to each request.
    private func fixture(_ configure: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture(configure)
        let count = Mutex(0)
        fixture.transport.respond { _ in
            ScriptedResponse(
                headers: [.contentType: "application/json", .cacheControl: "max-age=600"],
                body: Data("\(count.withLock { $0 += 1; return $0 })".utf8))
        }
        return fixture
    }

    private func bearer(_ identity: Bool = false) -> [HostPattern: any Authenticator] {
        [
            "*.example.com": .bearer { [secret] in
                secret.text
            } refresh: {
            } cacheIdentity: { [secret] in
                identity ? String(secret.text.prefix(1)) : nil
            }
        ]
    }

    private func start(
        _ mode: Mode, _ fixture: AgentFixture, _ url: String = "me",
        _ change: (inout RequestDescription) -> Void = { _ in }
    ) -> RequestTask {
        fixture.agent.start(
            InlineRequest(EndpointURL(raw: url)) {
                if mode == .time { $0.cacheSeconds = 600 } else { $0.cache.policy = .http }
                $0.cache.writesAsynchronously = false
                change(&$0)
            }.makeDescription())
    }

    /// Requests of the users a, b, a and b: the last two use the stored responses of the first two.
    private func expectSeparateEntries(
        _ mode: Mode, _ fixture: AgentFixture, signIn: (String) -> Void = { _ in },
        describe: (inout RequestDescription, String) -> Void = { _, _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var sources: [Response.Source] = []
        var texts: [String] = []
        for user in ["a", "b", "a", "b"] {
            signIn(user)
            let response = try await start(mode, fixture) { describe(&$0, user) }.response()
            sources.append(response.source)
            texts.append(String(decoding: response.data, as: UTF8.self))
        }
        #expect(
            sources == [.network, .network, .cacheFresh, .cacheFresh],
            sourceLocation: sourceLocation)
        #expect(texts == ["1", "2", "1", "2"], sourceLocation: sourceLocation)
        try await expectSeparateOperations(
            mode, fixture, signIn: signIn, describe: describe, sourceLocation: sourceLocation)
        let entries = try await fixture.agent.store?.entries() ?? []
        for name in ["hush", "Bearer", "session"] {
            #expect(
                !entries.contains { $0.key.canonical.contains(name) },
                sourceLocation: sourceLocation)
        }
    }

    /// Without a start, and in sequences, the users a and b have their responses, and the user c has none.
    private func expectSeparateOperations(
        _ mode: Mode, _ fixture: AgentFixture, signIn: (String) -> Void,
        describe: (inout RequestDescription, String) -> Void, sourceLocation: SourceLocation
    ) async throws {
        func request(_ user: String) -> InlineRequest {
            signIn(user)
            return InlineRequest("me", agent: fixture.agent) {
                if mode == .time { $0.cacheSeconds = 600 } else { $0.cache.policy = .http }
                $0.cache.writesAsynchronously = false
                describe(&$0, user)
            }
        }
        func cached(_ user: String) async throws -> String? {
            try await request(user).cachedResponse().map {
                String(decoding: $0.data, as: UTF8.self)
            }
        }
        for (user, text) in [("a", "1"), ("b", "2"), ("a", "1"), ("c", nil)] {
            #expect(try await cached(user) == text, sourceLocation: sourceLocation)
        }
        for (user, sources) in [
            ("c", [Response.Source.network]), ("b", [.cacheFresh, .network]),
            ("a", [.cacheFresh, .network]),
        ] {
            var received: [Response.Source] = []
            for try await response in request(user).responseUpdates() {
                received.append(response.source)
            }
            #expect(received == sources, sourceLocation: sourceLocation)
        }
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "max-age=600"]
        let url = try HTTPURL(parsing: "https://api.example.com/me")
        try await request("d").storeResponse(
            Response(status: .ok, headers: headers, body: .data(Data("40".utf8)), url: url))
        #expect(try await cached("e") == nil, sourceLocation: sourceLocation)
        #expect(try await cached("d") == "40", sourceLocation: sourceLocation)
        try await request("e").removeCached()
        #expect(try await cached("d") == "40", sourceLocation: sourceLocation)
        try await request("d").removeCached()
        #expect(try await cached("d") == nil, sourceLocation: sourceLocation)
    }

    @Test(arguments: Mode.allCases)
    func tokensOfAnAuthenticator(mode: Mode) async throws {
        let fixture = fixture { $0.authenticators = bearer() }
        try await expectSeparateEntries(mode, fixture, signIn: { secret.text = "hush-\($0)" })
    }

    @Test(arguments: Mode.allCases)
    func authenticatorsOfTheConfiguration(mode: Mode) async throws {
        let makers: [@Sendable (String) -> any Authenticator] = [
            { .basic(user: "user", password: "hush-\($0)") },
            { .digest(user: "user", password: "hush-\($0)") },
            { .password(user: "user", password: "hush-\($0)") },
            { .apiKey("hush-\($0)", in: .query("key")) },
            { .apiKey("hush-\($0)", in: .header(.from)) },
        ]
        for make in makers {
            let fixture = fixture()
            try await expectSeparateEntries(
                mode, fixture,
                signIn: { user in
                    fixture.agent.reconfigure {
                        $0.authenticators = ["*.example.com": make(user)]
                    }
                })
        }
    }

    @Test(arguments: Mode.allCases)
    func cookiesOfTheJar(mode: Mode) async throws {
        let fixture = fixture()
        let url = try HTTPURL(parsing: "https://api.example.com/")
        try await expectSeparateEntries(
            mode, fixture,
            signIn: {
                fixture.agent.cookieJar.receive(
                    [.setCookie: "session=hush-\($0); Path=/"], from: url)
            })
    }

    @Test(arguments: Mode.allCases)
    func headersOfTheRequest(mode: Mode) async throws {
        try await expectSeparateEntries(
            mode, fixture(), describe: { $0.headers[.authorization] = "Bearer hush-\($1)" })
        try await expectSeparateEntries(
            mode, fixture(), describe: { $0.headers[.cookie] = "session=hush-\($1)" })
    }

    @Test(arguments: Mode.allCases)
    func headersOfACustomRequest(mode: Mode) async throws {
        for name in ["Authorization", "Cookie", "X-Api-Key"] {
            try await expectSeparateEntries(
                mode, fixture(),
                describe: {
                    $0.url = ""
                    $0.customRequest = CustomRequest(
                        url: "https://api.example.com/me", method: .get,
                        headers: [(name: name, value: "hush-\($1)")], body: nil)
                })
        }
    }

    @Test(arguments: Mode.allCases)
    func customRequestWithAnAuthenticator(mode: Mode) async throws {
        let fixture = fixture { $0.authenticators = bearer() }
        try await expectSeparateEntries(
            mode, fixture, signIn: { secret.text = "hush-\($0)" },
            describe: { description, _ in
                description.url = ""
                description.customRequest = CustomRequest(
                    url: "https://api.example.com/me", method: .get, headers: [], body: nil)
            })
    }

    @Test(arguments: Mode.allCases)
    func tokensOfARequestProcessor(mode: Mode) async throws {
        let fixture = fixture { [secret] in
            $0.requestProcessors = [
                { request, _, _ in
                    request.headers[.authorization] = "Bearer \(secret.text)"
                }
            ]
        }
        try await expectSeparateEntries(mode, fixture, signIn: { secret.text = "hush-\($0)" })
    }

    @Test(arguments: Mode.allCases)
    func clientCertificates(mode: Mode) async throws {
        try await expectSeparateEntries(
            mode, fixture(),
            describe: {
                $0.sending.security = SecurityPolicy()
                $0.sending.security?.clientIdentity = .pkcs12(Data($1.utf8), password: "hush")
            })
    }

    // MARK: - One user

    @Test(arguments: Mode.allCases)
    func requestsWithoutCredentialsShareAnEntry(mode: Mode) async throws {
        let fixture = fixture { $0.authenticators = ["*.other.com": Signer()] }
        _ = try await start(mode, fixture).response()
        #expect(try await start(mode, fixture).response().source == .cacheFresh)
        let entries = try await fixture.agent.store?.entries() ?? []
        #expect(!entries.contains { $0.key.canonical.contains("@") })
    }

    @Test(arguments: Mode.allCases)
    func cacheIdentityOfAnAuthenticatorSurvivesARefresh(mode: Mode) async throws {
        let fixture = fixture { $0.authenticators = bearer(true) }
        secret.text = "a1"
        _ = try await start(mode, fixture).response()
        secret.text = "a2"
        #expect(try await start(mode, fixture).response().source == .cacheFresh)
        secret.text = "b1"
        #expect(try await start(mode, fixture).response().source == .network)
    }

    @Test(arguments: Mode.allCases)
    func cacheIdentityOfTheRequestTakesPrecedence(mode: Mode) async throws {
        let fixture = fixture { $0.authenticators = bearer() }
        for token in ["1", "2"] {
            secret.text = token
            _ = try await start(mode, fixture) { $0.cache.identity = "a" }.response()
        }
        #expect(fixture.transport.requests.count == 1)
    }

    // MARK: - Credentials that change while a request is in progress

    private func refusals(_ fixture: AgentFixture) -> Int {
        fixture.events.names.count { $0 == "cacheWriteFailed" }
    }

    @Test(arguments: Mode.allCases)
    func responseOfAUserWhoSignsInMeanwhileIsNotStored(mode: Mode) async throws {
        for usesCookies in [true, false] {
            let gate = Gate()
            let fixture = fixture {
                $0.limits.total = 1
                if !usesCookies { $0.authenticators = bearer() }
            }
            let url = try HTTPURL(parsing: "https://api.example.com/")
            let signIn = { (user: String) in
                guard usesCookies else { return secret.text = user }
                _ = fixture.agent.cookieJar.receive("session=\(user); Path=/", from: url)
            }
            fixture.transport.on(.get, "/slow", ScriptedResponse.json("0").held(by: gate))
            fixture.transport.respond { $0.url.path == "/slow" ? .json("0").held(by: gate) : nil }
            signIn("a")
            let slow = fixture.agent.start(RequestDescription(endpoint: "Slow", url: "slow"))
            _ = try await fixture.transport.nextRequest()
            let task = start(mode, fixture)
            try await fixture.untilQueued()
            signIn("b")
            gate.open()
            _ = try await slow.response()
            #expect(try await task.response().source == .network)
            #expect(refusals(fixture) == 1)
            signIn("a")
            #expect(try await start(mode, fixture).response().source == .network)
        }
    }

    @Test(arguments: Mode.allCases)
    func responseAfterARefreshIsStoredOnlyWithAnIdentity(mode: Mode) async throws {
        for hasIdentity in [true, false] {
            secret.text = "a1"
            let fixture = AgentFixture {
                $0.authenticators = [
                    "*.example.com": .bearer { [secret] in
                        secret.text
                    } refresh: { [secret] in
                        secret.text = "a2"
                    } cacheIdentity: {
                        hasIdentity ? "a" : nil
                    }
                ]
            }
            fixture.transport.respond { request in
                request.headers[.authorization] == "Bearer a2"
                    ? ScriptedResponse(
                        headers: [.cacheControl: "max-age=60", .contentType: "application/json"],
                        body: Data("{}".utf8))
                    : ScriptedResponse(status: .unauthorized)
            }
            #expect(try await start(mode, fixture).response().source == .network)
            let second = try await start(mode, fixture).response()
            #expect(second.source == (hasIdentity ? .cacheFresh : .network))
            #expect(try await start(mode, fixture).response().source == .cacheFresh)
        }
    }

    @Test(arguments: Mode.allCases)
    func signedResponsesAreNotStored(mode: Mode) async throws {
        let fixture = fixture { $0.authenticators = ["*.example.com": Signer()] }
        for _ in 0..<3 { #expect(try await start(mode, fixture).response().source == .network) }
        #expect(try await fixture.agent.store?.entries().isEmpty == true)
        #expect(refusals(fixture) == 3)
    }

    @Test func responseBehindARedirectWithOtherCookiesIsNotStored() async throws {
        let fixture = fixture()
        fixture.transport.respond { request in
            request.url.path != "/me"
                ? nil
                : ScriptedResponse(
                    status: .found, headers: [.location: "https://cdn.example.com/target"])
        }
        let jar = fixture.agent.cookieJar
        let (api, cdn) = (
            try HTTPURL(parsing: "https://api.example.com/"),
            try HTTPURL(parsing: "https://cdn.example.com/")
        )
        jar.receive("session=a; Path=/", from: api)
        _ = try await start(.time, fixture).response()
        #expect(try await start(.time, fixture).response().source == .cacheFresh)
        jar.clear()
        jar.receive("session=b; Path=/", from: cdn)
        for _ in 0..<2 { #expect(try await start(.time, fixture).response().source == .network) }
        #expect(refusals(fixture) == 2)
    }

    @Test func unsafeRequestInvalidatesTheEntriesOfItsUser() async throws {
        let fixture = fixture { $0.authenticators = bearer() }
        let url = try HTTPURL(parsing: "https://api.example.com/")
        fixture.agent.cookieJar.receive("session=a; Path=/", from: url)
        for user in ["a", "b"] {
            secret.text = user
            _ = try await start(.http, fixture).response()
        }
        _ = try await fixture.agent.start(
            InlineRequest("me") { $0.method = .post }.makeDescription()
        ).response()
        #expect(try await start(.http, fixture).response().source == .network)
        secret.text = "a"
        #expect(try await start(.http, fixture).response().source == .cacheFresh)
    }

    @Test func requestOfAnotherUserDoesNotJoin() async throws {
        let gate = Gate()
        let fixture = fixture { $0.authenticators = bearer() }
        fixture.transport.respond { _ in .json("{}").held(by: gate) }
        var tasks: [RequestTask] = []
        for user in ["a", "b"] {
            secret.text = user
            tasks.append(
                fixture.agent.start(
                    InlineRequest("me") { $0.sending.duplicates = .join }.makeDescription()))
            _ = try await fixture.transport.nextRequest()
        }
        tasks.append(
            fixture.agent.start(
                InlineRequest("me") { $0.sending.duplicates = .join }.makeDescription()))
        try await fixture.untilJoined()
        gate.open()
        for task in tasks { _ = try await task.response() }
        #expect(
            fixture.transport.requests.map { $0.headers[.authorization] } == [
                "Bearer a", "Bearer b",
            ])
    }
}
