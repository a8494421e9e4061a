import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// `redirectDecider` follows, delivers or replaces each redirect.
@Suite(.limited) struct RedirectDeciderTests {
    private func fixture(
        to location: String = "/new", status: HTTPResponse.Status = .found,
        _ configure: @escaping (inout Configuration) -> Void = { _ in },
        decide: @escaping @Sendable (ProposedRedirect) -> RedirectVerdict
    ) -> AgentFixture {
        let fixture = AgentFixture {
            $0.redirectDecider = decide
            configure(&$0)
        }
        fixture.transport.on(
            nil, "/old", ScriptedResponse(status: status, headers: [.location: location]))
        fixture.transport.on(nil, "/new", .json("{}"))
        return fixture
    }

    @Test func deciderReceivesTheResponseAndTheProposedRequest() async throws {
        let seen = Mutex<[ProposedRedirect]>([])
        let fixture = fixture(status: .seeOther) { redirect in
            seen.withLock { $0.append(redirect) }
            return .asPolicy
        }
        let request = InlineRequest("old") {
            $0.method = .post
            $0.arguments = ["a": 1]
        }
        try await fixture.with(request).send()
        let redirect = try #require(seen.withLock { $0 }.first)
        #expect(redirect.response.status == .seeOther && redirect.count == 1)
        #expect(redirect.original.method == .post && redirect.request.method == .get)
        #expect(redirect.request.url.path == "/new" && redirect.request.body == nil)
        #expect(redirect.description.endpoint == "InlineRequest")
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func deliverReturnsTheRedirectResponse() async throws {
        let fixture = fixture { _ in .deliver }
        let request = InlineRequest("old") { $0.acceptance.statuses = StatusCodes(200..<400) }
        let response = try await fixture.with(request).send()
        #expect(response.status == .found && response.headers[.location] == "/new")
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func followSendsTheDecidersRequest() async throws {
        let fixture = fixture(to: "/nowhere") { redirect in
            var request = redirect.request
            request.url.path = "/new"
            request.headers[.from] = "decider"
            return .follow(request)
        }
        let response = try await fixture.with(Plain("old")).send()
        #expect(response.url.path == "/new")
        #expect(fixture.transport.requests.last?.headers[.from] == "decider")
    }

    /// `hostHeaders` are not proposed for another host; headers that the decider sets itself are sent.
    @Test func hostHeadersAreNotProposedForAnotherHost() async throws {
        let proposed = Mutex<String?>("the decider was not called")
        let fixture = fixture(to: "https://other.example.com/new") {
            $0.hostHeaders = ["api.example.com": [.from: "ours"]]
        } decide: { redirect in
            proposed.withLock { $0 = redirect.request.headers[.from] }
            var request = redirect.request
            request.headers[.from] = "theirs"
            return .follow(request)
        }
        try await fixture.with(Plain("old")).send()
        #expect(fixture.transport.requests.map { $0.headers[.from] } == ["ours", "theirs"])
        #expect(proposed.withLock { $0 } == nil)
    }

    @Test func hostHeadersAreRemovedWhenTheDeciderChangesTheHost() async throws {
        let otherURL = try HTTPURL(parsing: "https://other.example.com/new")
        let fixture = fixture {
            $0.hostHeaders = ["api.example.com": [.from: "ours"]]
        } decide: { redirect in
            var request = redirect.request
            request.url = otherURL
            return .follow(request)
        }
        try await fixture.with(Plain("old")).send()
        #expect(fixture.transport.requests.map { $0.headers[.from] } == ["ours", nil])
    }

    @Test func credentialsAreRemovedWhenTheDeciderChangesTheOrigin() async throws {
        let otherURL = try HTTPURL(parsing: "https://other.example.com/new")
        let fixture = fixture { redirect in
            var request = redirect.request
            request.url = otherURL
            request.headers[.cookie] = "the decider's own"
            return .follow(request)
        }
        let request = InlineRequest("old") { $0.authorization = .bearer("secret") }
        try await fixture.with(request).send()
        let hops = fixture.transport.requests
        #expect(hops[0].headers[.authorization] == "Bearer secret")
        #expect(hops[1].url.host == "other.example.com")
        #expect(hops[1].headers[.authorization] == nil)
        #expect(hops[1].headers[.cookie] == "the decider's own")
    }

    /// A decider that starts from the original request must not leak its credentials (RFC 9110 §15.4).
    @Test(arguments: ["https://other.example.com/new", "http://api.example.com/new"])
    func originalRequestsCredentialsAreNotSentToAnotherOrigin(location: String) async throws {
        let fixture = fixture(to: location) {
            $0.redirectPolicy.allowsDowngrade = true
        } decide: { redirect in
            var request = redirect.original
            request.url = redirect.request.url
            request.headers[.from] = "decider"
            return .follow(request)
        }
        let request = InlineRequest("old") {
            $0.authorization = .bearer("secret")
            $0.headers = [.cookie: "a=1", .acceptLanguage: "de"]
            $0.headerFieldValues = ["X-Api-Key": "k"]
        }
        try await fixture.with(request).send()
        let hop = try #require(fixture.transport.requests.last)
        #expect(hop.headers[.authorization] == nil && hop.headers[.cookie] == nil)
        #expect(!hop.headers.contains { $0.name.canonicalName == "x-api-key" })
        #expect(hop.headers[.from] == "decider" && hop.headers[.acceptLanguage] == "de")
    }

    @Test func credentialsSetByTheDeciderAreSent() async throws {
        let fixture = fixture(to: "https://other.example.com/new") { redirect in
            var request = redirect.original
            request.url = redirect.request.url
            request.headers[.authorization] = "Bearer theirs"
            return .follow(request)
        }
        let request = InlineRequest("old") { $0.authorization = .bearer("ours") }
        try await fixture.with(request).send()
        #expect(
            fixture.transport.requests.map { $0.headers[.authorization] } == [
                "Bearer ours", "Bearer theirs",
            ])
    }

    @Test func originalRequestKeepsItsCredentialsWithinItsOrigin() async throws {
        let fixture = fixture { redirect in
            var request = redirect.original
            request.url = redirect.request.url
            return .follow(request)
        }
        let request = InlineRequest("old") { $0.authorization = .bearer("ours") }
        try await fixture.with(request).send()
        #expect(fixture.transport.requests.last?.headers[.authorization] == "Bearer ours")
    }

    @Test(arguments: ["http://api.example.com/new", "ftp://api.example.com/new", "/relative"])
    func deciderCannotOverrideTheRedirectPolicy(url: String) async throws {
        let target = try HTTPURL(parsing: url)
        let fixture = fixture { redirect in
            var request = redirect.request
            request.url = target
            return .follow(request)
        }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("old")).send()
        }
        #expect(error?.code == .unsafeRedirect)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func deciderIsNotCalledWhenRedirectsAreDisabled() async throws {
        let fixture = fixture({ $0.redirectPolicy = .none }) { _ in .asPolicy }
        let request = InlineRequest("old") { $0.acceptance.statuses = StatusCodes(200..<400) }
        #expect(try await fixture.with(request).send().status == .found)
    }

    @Test func redirectLoopByTheDeciderEnds() async throws {
        let fixture = fixture { redirect in
            var request = redirect.request
            request.url.path = "/old"
            return .follow(request)
        }
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("old")).send()
        }
        #expect(error?.code == .tooManyRedirects)
    }
}
