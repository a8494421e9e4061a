import Errand
import ErrandTesting
import Testing

final class Posting: BaseRequest {
    override var url: String { "post" }
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["a": 1] }
    override var authorization: Authorization? { .bearer("secret") }
}

@Suite(.timeLimit(.minutes(5))) struct RetryAndRedirectTests {
    @Test func anAttemptFollowsAfterThePauseTheServerAskedFor() async throws {
        let world = World { $0.retryPolicy = .attempts(3) }
        var busy = ScriptedAnswer.json("{}", status: .serviceUnavailable)
        busy = ScriptedAnswer(
            status: .serviceUnavailable,
            headers: [.contentType: "application/json", .retryAfter: "7"])
        world.transport.on(.get, "/x", busy, .json("{}"))
        let task = world.agent.start(Plain("x").describe())
        try await world.clock.untilSleeping()
        world.clock.advance(by: .milliseconds(6999))
        #expect(world.transport.requests.count == 1)
        world.clock.advance(by: .milliseconds(1))
        let response = try await task.response()
        #expect(response.attempts == 2)
        #expect(world.events.names.filter { $0 == "attemptStarted" }.count == 2)
    }

    @Test(arguments: [false, true]) func whatEndsAPauseSaysWhyThereWasOne(isAwaited: Bool)
        async throws
    {
        let world = World {
            $0.retryPolicy = .attempts(3)
            $0.timeouts.total = .seconds(3)
        }
        let busy = ScriptedAnswer(status: .serviceUnavailable, headers: [.retryAfter: "20"])
        world.transport.on(.get, "/x", busy)
        let task = Task { () -> RequestError? in
            do throws(RequestError) {
                if isAwaited {
                    _ = try await world.with(Plain("x")).send()
                } else {
                    _ = try await world.agent.start(Plain("x").describe()).response()
                }
                return nil
            } catch {
                return error
            }
        }
        try await world.clock.untilSleeping(2)
        world.clock.advance(by: .seconds(3))
        let error = try #require(await task.value)
        #expect(error.code == .timedOut && error.timeout == .total)
        #expect((error.underlying as? RequestError)?.response?.status == .serviceUnavailable)
    }

    @Test func cancellingDuringThePauseEndsAtOnce() async throws {
        let world = World { $0.retryPolicy = .attempts(3) }
        world.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        let task = world.agent.start(Plain("x").describe())
        try await world.clock.untilSleeping()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
        #expect(world.transport.requests.count == 1)
    }

    @Test func redirectsAreFollowedWithoutLeakingCredentials() async throws {
        let world = World()
        world.transport.on(
            .post, "/post",
            ScriptedAnswer(
                status: .seeOther, headers: [.location: "https://elsewhere.example.com/landed"]))
        world.transport.on(.get, "/landed", .json(#"{"here":true}"#))
        let request = world.with(Posting())
        let response = try await request.send()
        #expect(response.url.string == "https://elsewhere.example.com/landed")
        let hops = world.transport.requests
        #expect(hops.map(\.method) == [.post, .get])
        #expect(hops[0].headers[.authorization] == "Bearer secret")
        #expect(hops[1].headers[.authorization] == nil)
        #expect(hops[1].body == nil)
    }

    @Test(
        arguments: [
            ("start", "/middle", "/end", nil), ("start#own", "/middle", "/end", "own"),
            ("start#own", "/middle#there", "/end", "there"),
            ("start#own", "/middle#there", "/end#last", "last"),
        ] as [(String, String, String, String?)])
    func fragmentsAreInheritedAndNeverSent(
        url: String, first: String, second: String, expected: String?
    ) async throws {
        let world = World()
        world.transport.answer { request in
            let location =
                switch request.url.path {
                case "/start": first
                case "/middle": second
                default: ""
                }
            return location.isEmpty
                ? .json("{}") : ScriptedAnswer(status: .found, headers: [.location: location])
        }
        for _ in 0..<2 {
            let response = try await world.with(Plain(url)).send()
            #expect(response.url.fragment == expected)
            #expect(response.url.path == "/end")
        }
        #expect(world.transport.requests.count == 6)
        #expect(world.transport.requests.allSatisfy { $0.url.fragment == nil })
    }

    @Test func aCircleOfRedirectsEnds() async throws {
        let world = World()
        world.transport.on(
            .get, "/a", ScriptedAnswer(status: .found, headers: [.location: "/b"]))
        world.transport.on(
            .get, "/b", ScriptedAnswer(status: .found, headers: [.location: "/a"]))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("a")).send()
        }
        #expect(error?.code == .tooManyRedirects)
        #expect(world.transport.requests.count < 25)
    }
}
