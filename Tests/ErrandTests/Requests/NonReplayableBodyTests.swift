import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A body that is not replayable is read only once, whatever happens to its request.
@Suite(.limited) struct NonReplayableBodyTests {
    private let streams = StreamFactory()
    private let busy = ScriptedResponse.json("{}", status: .serviceUnavailable)

    private func fixture(_ change: (inout Configuration) -> Void = { _ in }) -> AgentFixture {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
            change(&$0)
        }
        fixture.transport.on(nil, nil, .json("{}"))
        return fixture
    }

    private func upload(
        _ path: String = "x", isReplayable: Bool = false, isPart: Bool = false
    ) -> RequestDescription {
        var description = Plain(path).makeDescription()
        description.method = .put
        let streams = streams
        if isPart {
            let part = HTTPBody.Part.stream("f", isReplayable: isReplayable) {
                streams.chunks()
            }
            description.body = .multipart([.text("a", "b"), part])
        } else {
            description.body = .stream(isReplayable: isReplayable) { streams.chunks() }
        }
        return description
    }

    @Test func isReplayableReflectsTheBody() {
        #expect(HTTPBody.data(Data()).isReplayable)
        #expect(HTTPBody.stream { AsyncStream<Data> { _ in } }.isReplayable)
        #expect(upload().body?.isReplayable == false)
        #expect(upload(isPart: true).body?.isReplayable == false)
        #expect(upload(isReplayable: true, isPart: true).body?.isReplayable == true)
    }

    @Test(arguments: [false, true]) func failedRequestIsNotRetried(isPart: Bool) async {
        let fixture = fixture()
        fixture.transport.on(.put, "/x", busy)
        let error = await #expect(throws: RequestError.self) {
            try await fixture.agent.start(upload(isPart: isPart)).response()
        }
        #expect(error?.status == 503 && error?.attempts == 1)
        #expect(fixture.transport.requests.count == 1)
        #expect(fixture.events.names.contains("retryDeclined"))
    }

    @Test func retryDeciderCannotForceARetry() async {
        let fixture = fixture { $0.retryDecider = { _ in .again(after: .zero) } }
        fixture.transport.on(.put, "/x", busy)
        await #expect(throws: RequestError.self) {
            try await fixture.agent.start(upload()).response()
        }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func replayableStreamIsRetried() async throws {
        let fixture = fixture()
        fixture.transport.on(.put, "/x", busy, .json("{}"))
        let response = try await fixture.agent.start(upload(isReplayable: true)).response()
        #expect(response.attempts == 2)
    }

    @Test(arguments: [307, 308]) func redirectThatResendsTheBodyFails(
        status: Int
    ) async {
        let fixture = fixture()
        fixture.transport.on(
            .put, "/x", ScriptedResponse(status: .init(code: status), headers: [.location: "/y"]))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.agent.start(upload()).response()
        }
        #expect(error?.code == .bodyNotReplayable && error?.status?.code == status)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func redirectWithoutBodyIsFollowed() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .put, "/x", ScriptedResponse(status: .seeOther, headers: [.location: "/y"]))
        #expect(try await fixture.agent.start(upload()).response().status == 200)
    }

    @Test func redirectWithAnotherBodyIsFollowed() async throws {
        let fixture = fixture {
            $0.redirectDecider = { redirect in
                var request = redirect.request
                request.body = .string("another")
                return .follow(request)
            }
        }
        fixture.transport.on(
            .put, "/x", ScriptedResponse(status: .temporaryRedirect, headers: [.location: "/y"]))
        #expect(try await fixture.agent.start(upload()).response().status == 200)
    }

    @Test func unauthorizedResponseIsReturnedAfterARefresh() async throws {
        let refreshes = Atomic<Int>(0)
        let fixture = fixture {
            $0.authenticators = [
                "api.example.com": .bearer {
                    "token"
                } refresh: {
                    _ = refreshes.add(1, ordering: .relaxed)
                }
            ]
        }
        fixture.transport.on(.put, "/x", ScriptedResponse(status: .unauthorized))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.agent.start(upload()).response()
        }
        #expect(error?.status == 401)
        #expect(fixture.transport.requests.count == 1)
        #expect(refreshes.load(ordering: .relaxed) == 1)
    }

    @Test func consumedBodyCannotBeReadAgain() async throws {
        let body = try #require(upload().body)
        #expect(try await body.bytes() == Data("body".utf8))
        let error = await #expect(throws: RequestError.self) { try await body.bytes() }
        #expect(error?.code == .bodyNotReplayable)
        #expect(streams.count == 1)
    }

    /// Over real sockets, the body is sent once; a closed connection does not cause a second attempt.
    @Test func bodyIsSentOnceOverRealSockets() async throws {
        let server = LoopbackServer()
        server.route("/x") { request in
            LoopbackResponse(status: 503, body: "\(request.body.count)")
        }
        try await server.start()
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        let agent = RequestAgent(configuration: configuration, transport: CurlTransport())
        let error = await #expect(throws: RequestError.self) {
            try await agent.start(upload()).response()
        }
        #expect(error?.status == 503)
        #expect(streams.count == 1)
        await agent.shutdown()
        await server.stop()
    }
}

/// Makes body streams and counts them.
private final class StreamFactory: Sendable {
    private let created = Mutex(0)

    var count: Int { created.withLock { $0 } }

    func chunks() -> AsyncStream<Data> {
        created.withLock { $0 += 1 }
        return AsyncStream {
            $0.yield(Data("body".utf8))
            $0.finish()
        }
    }
}
