import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A body that can be made only once is made only once, whatever happens to its request.
@Suite(.timeLimit(.minutes(5))) struct SingleUseBodyTests {
    private let made = Counter()
    private let busy = ScriptedAnswer.json("{}", status: .serviceUnavailable)

    private func world(_ change: (inout Configuration) -> Void = { _ in }) -> World {
        let world = World {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            change(&$0)
        }
        world.transport.on(nil, nil, .json("{}"))
        return world
    }

    private func upload(
        _ path: String = "x", isReplayable: Bool = false, isPart: Bool = false
    ) -> RequestDescription {
        var description = Plain(path).describe()
        description.method = .put
        let made = made
        if isPart {
            let part = MultipartBody.Part.stream("f", isReplayable: isReplayable) { made.chunks() }
            description.body = .multipart(MultipartBody([.text("a", "b"), part]))
        } else {
            description.body = .stream(isReplayable: isReplayable) { made.chunks() }
        }
        return description
    }

    @Test func itSaysSo() {
        #expect(HTTPBody.data(Data()).isReplayable)
        #expect(HTTPBody.stream { AsyncStream<Data> { _ in } }.isReplayable)
        #expect(upload().body?.isReplayable == false)
        #expect(upload(isPart: true).body?.isReplayable == false)
        #expect(upload(isReplayable: true, isPart: true).body?.isReplayable == true)
    }

    @Test(arguments: [false, true]) func aFailureIsNotFollowedByAnotherAttempt(isPart: Bool) async {
        let world = world()
        world.transport.on(.put, "/x", busy)
        let error = await #expect(throws: RequestError.self) {
            try await world.agent.start(upload(isPart: isPart)).response()
        }
        #expect(error?.status == 503 && error?.attempts == 1)
        #expect(world.transport.requests.count == 1)
        #expect(world.events.names.contains("retryDeclined"))
    }

    @Test func theDeciderCannotAllowIt() async {
        let world = world { $0.retryDecider = { _ in .again(after: .zero) } }
        world.transport.on(.put, "/x", busy)
        await #expect(throws: RequestError.self) {
            try await world.agent.start(upload()).response()
        }
        #expect(world.transport.requests.count == 1)
    }

    @Test func theDefaultIsSentAgain() async throws {
        let world = world()
        world.transport.on(.put, "/x", busy, .json("{}"))
        let response = try await world.agent.start(upload(isReplayable: true)).response()
        #expect(response.attempts == 2)
    }

    @Test(arguments: [307, 308]) func aRedirectThatWantsTheBodyAgainFailsWithAType(
        status: Int
    ) async {
        let world = world()
        world.transport.on(
            .put, "/x", ScriptedAnswer(status: .init(code: status), headers: [.location: "/y"]))
        let error = await #expect(throws: RequestError.self) {
            try await world.agent.start(upload()).response()
        }
        #expect(error?.code == .bodyNotReplayable && error?.status?.code == status)
        #expect(world.transport.requests.count == 1)
    }

    @Test func aRedirectWithoutABodyIsFollowed() async throws {
        let world = world()
        world.transport.on(
            .put, "/x", ScriptedAnswer(status: .seeOther, headers: [.location: "/y"]))
        #expect(try await world.agent.start(upload()).response().status == 200)
    }

    @Test func aRedirectWithAnotherBodyIsFollowed() async throws {
        let world = world {
            $0.redirectDecider = { redirect in
                var request = redirect.request
                request.body = .string("another")
                return .follow(request)
            }
        }
        world.transport.on(
            .put, "/x", ScriptedAnswer(status: .temporaryRedirect, headers: [.location: "/y"]))
        #expect(try await world.agent.start(upload()).response().status == 200)
    }

    @Test func a401IsTheAnswerAndTheNextRequestHasNewCredentials() async throws {
        let renewals = Counter()
        let world = world {
            $0.authenticators = [
                HostAuthenticator(
                    "api.example.com",
                    BearerAuthenticator {
                        "token"
                    } refresh: {
                        _ = renewals.chunks()
                    })
            ]
        }
        world.transport.on(.put, "/x", ScriptedAnswer(status: .unauthorized))
        let error = await #expect(throws: RequestError.self) {
            try await world.agent.start(upload()).response()
        }
        #expect(error?.status == 401)
        #expect(world.transport.requests.count == 1)
        #expect(renewals.count == 1)
    }

    @Test func whatWasReadOnceCannotBeReadAgain() async throws {
        let body = try #require(upload().body)
        #expect(try await body.bytes() == Data("body".utf8))
        let error = await #expect(throws: RequestError.self) { try await body.bytes() }
        #expect(error?.code == .bodyNotReplayable)
        #expect(made.count == 1)
    }

    /// Over real sockets: the server hears the body once, and the connection's end is no occasion to send it again.
    @Test func overRealSocketsItGoesOutOnce() async throws {
        let server = LoopbackServer()
        server.route("/x") { request in
            LoopbackAnswer(status: 503, body: "\(request.body.count)")
        }
        try await server.start()
        var configuration = Configuration(baseURL: server.url())
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        let agent = RequestAgent(configuration: configuration, transport: CurlTransport())
        let error = await #expect(throws: RequestError.self) {
            try await agent.start(upload()).response()
        }
        #expect(error?.status == 503)
        #expect(made.count == 1)
        await agent.shutdown()
        await server.stop()
    }
}

/// Makes streams and counts them.
private final class Counter: Sendable {
    private let made = Mutex(0)

    var count: Int { made.withLock { $0 } }

    func chunks() -> AsyncStream<Data> {
        made.withLock { $0 += 1 }
        return AsyncStream {
            $0.yield(Data("body".utf8))
            $0.finish()
        }
    }
}
