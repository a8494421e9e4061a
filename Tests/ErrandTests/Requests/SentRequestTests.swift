import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The request as it was sent at last, on the task and on the response.
@Suite(.limited) struct SentRequestTests {
    private final class Adding: Authenticator {
        func apply(to request: inout TransportRequest) async throws {
            request.headers[.authorization] = "Bearer hush"
        }
    }

    private func fixture() -> AgentFixture {
        AgentFixture {
            $0.sharedHeaders = [.acceptLanguage: "en"]
            $0.requestProcessors = [
                { request, _, attempt in
                    request.headers[.from] = "attempt \(attempt)"
                }
            ]
            $0.authenticators = ["api.example.com": Adding()]
            $0.retryPolicy = .attempts(3)
            $0.retryDecider = { _ in .again(after: .zero) }
        }
    }

    @MainActor @Test func showsWhatHooksMadeOfTheEndpoint() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .put, "/x", .json("{}", status: .serviceUnavailable), .json("{}"))
        let endpoint = fixture.with(
            InlineRequest("x?a=quiet") {
                $0.method = .put
                $0.body = .string("text")
            })
        var begun: RequestTask?
        let response = try await endpoint.send {
            begun = $0
            #expect($0.sentRequest == nil)
        }
        let task = try #require(begun)
        for sent in [task.sentRequest, response.sentRequest] {
            let sent = try #require(sent)
            #expect(sent.method == .put)
            #expect(sent.url.string == "https://api.example.com/x?a=quiet")
            #expect(sent.headers[.from] == "attempt 2" && sent.headers[.acceptLanguage] == "en")
            #expect(sent.headers[.authorization] == "Bearer hush")
            #expect(sent.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(sent.body == nil)
            var dumped = "\(sent)"
            dump(sent, to: &dumped)
            #expect(!dumped.contains("hush") && !dumped.contains("quiet"))
        }
        var dumped = "\(task)\(response)"
        dump(task, to: &dumped)
        dump(response, to: &dumped)
        #expect(!dumped.contains("hush") && !dumped.contains("quiet"))
    }

    @Test func showsTheTargetOfARedirect() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(
                status: .found, headers: [.location: "https://other.example.com/y"]))
        fixture.transport.on(.get, "/y", .json("{}"))
        let response = try await fixture.with(Plain("x")).send()
        #expect(response.sentRequest?.url.string == "https://other.example.com/y")
    }

    @Test func failureAndStreamHaveIt() async throws {
        let fixture = fixture()
        fixture.transport.on(.get, "/x", .json("{}", status: .notFound))
        let failing = fixture.with(Plain("x"))
        let task = fixture.agent.start(failing.makeDescription())
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.response?.sentRequest?.headers[.from] == "attempt 3")
        #expect(task.sentRequest?.headers[.from] == "attempt 3")
        fixture.transport.on(.get, "/y", .json("{}"))
        let stream = try await fixture.with(Plain("y")).stream()
        #expect(stream.response.sentRequest?.url.path == "/y")
        for try await _ in stream.bytes {}
    }

    @Test func requestThatFailsBeforeItsResponseHasIt() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(
                steps: [.fail(RequestError(.connectionLost, stage: .transport, "gone"))]))
        let failing = fixture.with(Plain("x"))
        let task = fixture.agent.start(failing.makeDescription())
        await #expect(throws: RequestError.self) { try await task.response() }
        #expect(task.sentRequest?.url.path == "/x")
    }

    @Test func storedResponseHasNone() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json("{}"))
        func send() async throws -> Response {
            try await InlineRequest("x") { $0.cacheSeconds = 60 }.send(on: fixture.agent)
        }
        #expect(try await send().sentRequest != nil)
        #expect(try await send().sentRequest == nil)
    }

    @Test func joinedRequestShowsTheSharedOne() async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/x", ScriptedResponse(steps: [.hold(gate)] + ScriptedResponse.json("{}").steps))
        func start() -> RequestTask {
            fixture.agent.start(
                InlineRequest("x") { $0.sending.duplicates = .join }.makeDescription())
        }
        let tasks = [start(), start()]
        try await fixture.untilJoined()
        gate.open()
        for task in tasks {
            #expect(try await task.response().sentRequest?.url.path == "/x")
            #expect(task.sentRequest?.url.path == "/x")
        }
        #expect(fixture.transport.requests.count == 1)
    }
}
