import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

/// The user's word on each redirect: follow, deliver, or another request (row SES-3).
@Suite(.timeLimit(.minutes(5))) struct RedirectDeciderTests {
    private func world(
        to location: String = "/new", status: HTTPResponse.Status = .found,
        _ configure: @escaping (inout Configuration) -> Void = { _ in },
        decide: @escaping @Sendable (ProposedRedirect) -> RedirectVerdict
    ) -> World {
        let world = World {
            $0.redirectDecider = decide
            configure(&$0)
        }
        world.transport.on(
            nil, "/old", ScriptedAnswer(status: status, headers: [.location: location]))
        world.transport.on(nil, "/new", .json("{}"))
        return world
    }

    @Test func itSeesTheAnswerAndWhatWouldBeSent() async throws {
        let seen = Mutex<[ProposedRedirect]>([])
        let world = world(status: .seeOther) { redirect in
            seen.withLock { $0.append(redirect) }
            return .asPolicy
        }
        let request = InlineRequest("old") {
            $0.method = .post
            $0.arguments = ["a": 1]
        }
        try await world.with(request).send()
        let redirect = try #require(seen.withLock { $0 }.first)
        #expect(redirect.response.status == .seeOther && redirect.count == 1)
        #expect(redirect.original.method == .post && redirect.request.method == .get)
        #expect(redirect.request.url.path == "/new" && redirect.request.body == nil)
        #expect(redirect.description.endpoint == "InlineRequest")
        #expect(world.transport.requests.count == 2)
    }

    @Test func aDeliveredRedirectIsTheAnswer() async throws {
        let world = world { _ in .deliver }
        let request = InlineRequest("old") { $0.acceptableStatusCodes = 200..<400 }
        let response = try await world.with(request).send()
        #expect(response.status == .found && response.headers[.location] == "/new")
        #expect(world.transport.requests.count == 1)
    }

    @Test func anotherRequestTakesItsPlace() async throws {
        let world = world(to: "/nowhere") { redirect in
            var request = redirect.request
            request.url.path = "/new"
            request.headers[.from] = "decider"
            return .follow(request)
        }
        let response = try await world.with(Plain("old")).send()
        #expect(response.url.path == "/new")
        #expect(world.transport.requests.last?.headers[.from] == "decider")
    }

    /// Headers of a host stay with it; what the decider puts on in their place is its business.
    @Test func headersOfAHostAreNotOfferedForAnother() async throws {
        let proposed = Mutex<String?>("nothing was asked")
        let world = world(to: "https://other.example.com/new") {
            $0.hostHeaders = ["api.example.com": [.from: "ours"]]
        } decide: { redirect in
            proposed.withLock { $0 = redirect.request.headers[.from] }
            var request = redirect.request
            request.headers[.from] = "theirs"
            return .follow(request)
        }
        try await world.with(Plain("old")).send()
        #expect(world.transport.requests.map { $0.headers[.from] } == ["ours", "theirs"])
        #expect(proposed.withLock { $0 } == nil)
    }

    @Test func headersOfAHostStayThereWhereTheDeciderGoesElsewhere() async throws {
        let elsewhere = try URI(parsing: "https://other.example.com/new")
        let world = world {
            $0.hostHeaders = ["api.example.com": [.from: "ours"]]
        } decide: { redirect in
            var request = redirect.request
            request.url = elsewhere
            return .follow(request)
        }
        try await world.with(Plain("old")).send()
        #expect(world.transport.requests.map { $0.headers[.from] } == ["ours", nil])
    }

    @Test func whatWasLeftOnForOneOriginDoesNotGoToAnother() async throws {
        let elsewhere = try URI(parsing: "https://other.example.com/new")
        let world = world { redirect in
            var request = redirect.request
            request.url = elsewhere
            request.headers[.cookie] = "the decider's own"
            return .follow(request)
        }
        let request = InlineRequest("old") { $0.authorization = .bearer("secret") }
        try await world.with(request).send()
        let hops = world.transport.requests
        #expect(hops[0].headers[.authorization] == "Bearer secret")
        #expect(hops[1].url.host == "other.example.com")
        #expect(hops[1].headers[.authorization] == nil)
        #expect(hops[1].headers[.cookie] == "the decider's own")
    }

    /// Who begins with the request that was answered has its credentials in hand (RFC 9110 §15.4).
    @Test(arguments: ["https://other.example.com/new", "http://api.example.com/new"])
    func credentialsOfTheOriginalStayWithItsOrigin(location: String) async throws {
        let world = world(to: location) {
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
        try await world.with(request).send()
        let hop = try #require(world.transport.requests.last)
        #expect(hop.headers[.authorization] == nil && hop.headers[.cookie] == nil)
        #expect(!hop.headers.contains { $0.name.canonicalName == "x-api-key" })
        #expect(hop.headers[.from] == "decider" && hop.headers[.acceptLanguage] == "de")
    }

    @Test func otherCredentialsOfTheDecidersAreItsBusiness() async throws {
        let world = world(to: "https://other.example.com/new") { redirect in
            var request = redirect.original
            request.url = redirect.request.url
            request.headers[.authorization] = "Bearer theirs"
            return .follow(request)
        }
        let request = InlineRequest("old") { $0.authorization = .bearer("ours") }
        try await world.with(request).send()
        #expect(
            world.transport.requests.map { $0.headers[.authorization] } == [
                "Bearer ours", "Bearer theirs",
            ])
    }

    @Test func withinItsOriginTheOriginalKeepsItsCredentials() async throws {
        let world = world { redirect in
            var request = redirect.original
            request.url = redirect.request.url
            return .follow(request)
        }
        let request = InlineRequest("old") { $0.authorization = .bearer("ours") }
        try await world.with(request).send()
        #expect(world.transport.requests.last?.headers[.authorization] == "Bearer ours")
    }

    @Test(arguments: ["http://api.example.com/new", "ftp://api.example.com/new", "/relative"])
    func itCannotAllowWhatThePolicyForbids(url: String) async throws {
        let target = try URI(parsing: url)
        let world = world { redirect in
            var request = redirect.request
            request.url = target
            return .follow(request)
        }
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("old")).send()
        }
        #expect(error?.code == .unsafeRedirect)
        #expect(world.transport.requests.count == 1)
    }

    @Test func itIsNotAskedWhereNothingIsFollowed() async throws {
        let world = world({ $0.redirectPolicy = .none }) { _ in .asPolicy }
        let request = InlineRequest("old") { $0.acceptableStatusCodes = 200..<400 }
        #expect(try await world.with(request).send().status == .found)
    }

    @Test func aCircleOfItsOwnMakingEnds() async throws {
        let world = world { redirect in
            var request = redirect.request
            request.url.path = "/old"
            return .follow(request)
        }
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("old")).send()
        }
        #expect(error?.code == .tooManyRedirects)
    }
}
