import Errand
import ErrandTesting
import TestSupport
import Testing

final class PostRequest: BaseRequest {
    override var url: EndpointURL { "post" }
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["a": 1] }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.authorization = .bearer("secret")
    }
}

@Suite(.limited) struct RetryAndRedirectTests {
    @Test func retryFollowsAfterTheRetryAfterDelay() async throws {
        let fixture = AgentFixture { $0.retryPolicy = .attempts(3) }
        var busy = ScriptedResponse.json("{}", status: .serviceUnavailable)
        busy = ScriptedResponse(
            status: .serviceUnavailable,
            headers: [.contentType: "application/json", .retryAfter: "7"])
        fixture.transport.on(.get, "/x", busy, .json("{}"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .milliseconds(6999))
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .milliseconds(1))
        let response = try await task.response()
        #expect(response.attempts == 2)
        #expect(fixture.events.names.filter { $0 == "attemptStarted" }.count == 2)
    }

    @Test(arguments: [false, true])
    func timeoutDuringARetryDelayKeepsThePreviousFailure(isAwaited: Bool) async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = .attempts(3)
            $0.timeouts.total = .seconds(3)
        }
        let busy = ScriptedResponse(status: .serviceUnavailable, headers: [.retryAfter: "20"])
        fixture.transport.on(.get, "/x", busy)
        let task = Task { () -> RequestError? in
            do throws(RequestError) {
                if isAwaited {
                    _ = try await fixture.with(Plain("x")).send()
                } else {
                    _ = try await fixture.agent.start(Plain("x").makeDescription()).response()
                }
                return nil
            } catch {
                return error
            }
        }
        try await fixture.clock.untilSleeping(2)
        fixture.clock.advance(by: .seconds(3))
        let error = try #require(await task.value)
        #expect(error.code == .timedOut && error.timeout == .total)
        #expect((error.underlying as? RequestError)?.response?.status == .serviceUnavailable)
    }

    @Test func cancellingDuringARetryDelayEndsTheRequest() async throws {
        let fixture = AgentFixture { $0.retryPolicy = .attempts(3) }
        fixture.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.clock.untilSleeping()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func redirectsAreFollowedWithoutLeakingCredentials() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .post, "/post",
            ScriptedResponse(
                status: .seeOther, headers: [.location: "https://other.example.com/new"]))
        fixture.transport.on(.get, "/new", .json(#"{"ok":true}"#))
        let request = fixture.with(PostRequest())
        let response = try await request.send()
        #expect(response.url.string == "https://other.example.com/new")
        let hops = fixture.transport.requests
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
    func redirectsInheritFragmentsAndNeverSendThem(
        url: String, first: String, second: String, expected: String?
    ) async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { request in
            let location =
                switch request.url.path {
                case "/start": first
                case "/middle": second
                default: ""
                }
            return location.isEmpty
                ? .json("{}") : ScriptedResponse(status: .found, headers: [.location: location])
        }
        for _ in 0..<2 {
            let response = try await fixture.with(Plain(url)).send()
            #expect(response.url.fragment == expected)
            #expect(response.url.path == "/end")
        }
        #expect(fixture.transport.requests.count == 6)
        #expect(fixture.transport.requests.allSatisfy { $0.url.fragment == nil })
    }

    @Test func redirectLoopEnds() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/a", ScriptedResponse(status: .found, headers: [.location: "/b"]))
        fixture.transport.on(
            .get, "/b", ScriptedResponse(status: .found, headers: [.location: "/a"]))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("a")).send()
        }
        #expect(error?.code == .tooManyRedirects)
        #expect(fixture.transport.requests.count < 25)
    }
}
