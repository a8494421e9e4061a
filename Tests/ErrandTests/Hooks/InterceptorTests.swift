import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited) struct InterceptorTests {
    private struct Refused: Error {}

    private final class Lines: Sendable {
        private let storage = Mutex<[String]>([])
        var all: [String] { storage.withLock { $0 } }
        func add(_ line: String) { storage.withLock { $0.append(line) } }
    }

    /// Records its calls around `next`.
    private struct Recorder: Interceptor {
        let name: String
        let lines: Lines

        func intercept(
            _ request: TransportRequest, next: TransportRequest.Next
        ) async throws -> Response {
            lines.add("\(name) \(request.url.path) \(request.headers[.from] ?? "-")")
            defer { lines.add("\(name) ended") }
            return try await next(request)
        }
    }

    private final class Intercepted: BaseRequest {
        let own: [any Interceptor]
        init(_ own: any Interceptor...) { self.own = own }
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.interceptors += own
        }
    }

    // MARK: - Position

    @Test func configurationsInterceptorsAreOutsideTheEndpoints() async throws {
        let lines = Lines()
        let fixture = AgentFixture {
            $0.sharedHeaders = [.from: "shared"]
            $0.interceptors = ["a", "b"].map { Recorder(name: $0, lines: lines) }
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        try await fixture.with(
            Intercepted(Recorder(name: "c", lines: lines), Recorder(name: "d", lines: lines))
        ).send()
        #expect(
            lines.all == ["a", "b", "c", "d"].map { "\($0) /x shared" }
                + ["d", "c", "b", "a"].map { "\($0) ended" })
    }

    @Test func interceptorIsCalledOnceForAttemptsAndRedirects() async throws {
        let lines = Lines()
        let fixture = AgentFixture {
            $0.interceptors = [Recorder(name: "a", lines: lines)]
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
        fixture.transport.on(
            .get, "/x", .json("{}", status: .serviceUnavailable),
            ScriptedResponse(status: .found, headers: [.location: "/y"]))
        fixture.transport.on(.get, "/y", .json("{}"))
        let response = try await fixture.with(Plain("x")).send()
        #expect(response.attempts == 2 && response.url.path == "/y")
        #expect(lines.all == ["a /x -", "a ended"])
    }

    @Test func requestProcessorsSignWhatInterceptorsChangedInEachAttempt() async throws {
        let fixture = AgentFixture.intercepting {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            $0.requestProcessors = [
                { request, _, attempt in
                    request.headers[.via] = "\(request.headers[.from] ?? "-") \(attempt)"
                }
            ]
        } _: { request, next in
            #expect(!request.headers.contains(.via))
            var changed = request
            changed.headers[.from] = "interceptor"
            return try await next(changed)
        }
        fixture.transport.on(
            .get, "/x", .json("{}", status: .serviceUnavailable), .json("{}"))
        try await fixture.with(Plain("x")).send()
        let sent = fixture.transport.requests
        #expect(sent.map { $0.headers[.from] } == ["interceptor", "interceptor"])
        #expect(sent.map { $0.headers[.via] } == ["interceptor 1", "interceptor 2"])
    }

    @Test func nextHasTheDescriptionOfTheEndpoint() async throws {
        let lines = Lines()
        let fixture = AgentFixture.intercepting { request, next in
            lines.add("\(next.description.endpoint) \(next.description.tag)")
            return try await next(request)
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        let request = Plain("x")
        request.tag = 7
        try await fixture.with(request).send()
        #expect(lines.all == ["Plain 7"])
    }

    // MARK: - Calls of next

    @Test func nextMayBeCalledAgainAfterAnError() async throws {
        let fixture = AgentFixture.intercepting { request, next in
            do throws(RequestError) {
                return try await next(request)
            } catch {
                #expect(error.status == 503 && error.attempts == 1 && error.endpoint == "Plain")
                var changed = request
                changed.url.path = "/y"
                return try await next(changed)
            }
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .serviceUnavailable))
        fixture.transport.on(.get, "/y", .json(#"{"n":2}"#))
        let response = try await fixture.with(Plain("x")).send()
        #expect(response.json["n"].int == 2 && response.attempts == 1)
        #expect(fixture.transport.requests.map(\.url.path) == ["/x", "/y"])
        #expect(fixture.events.names.count { $0 == "ended" } == 1)
    }

    @Test func ownResponseIsDecodedAndProcessedButNotValidated() async throws {
        struct Marker: Sendable {
            func process(_ response: inout Response) throws {
                response.headers[.from] = "processed"
            }
        }
        let fixture = AgentFixture.intercepting {
            $0.responseProcessors = [Marker().process]
        } _: { request, _ in
            Response(
                status: .notFound, body: .data(Data(#"{"nick":"a","level":1}"#.utf8)),
                url: request.url)
        }
        let request = fixture.with(GetUser(id: 7))
        #expect(try await request.value() == User(nick: "a", level: 1))
        #expect(request.response?.status == 404)
        #expect(request.response?.headers[.from] == "processed")
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func concurrentCallOfNextFails() async throws {
        let gate = Gate()
        let lines = Lines()
        let fixture = AgentFixture.intercepting { request, next in
            async let first = next(request)
            try await gate.reached()
            do throws(RequestError) {
                _ = try await next(request)
            } catch {
                lines.add("\(error.code)")
            }
            gate.open()
            return try await first
        }
        fixture.transport.on(.get, "/x", ScriptedResponse.json("{}").held(by: gate))
        #expect(try await fixture.with(Plain("x")).send().status == 200)
        #expect(lines.all == ["processingFailed"])
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func callAfterTheReturnFailsAndSendsNothing() async throws {
        let kept = Mutex<(TransportRequest, TransportRequest.Next)?>(nil)
        let fixture = AgentFixture.intercepting { request, next in
            kept.withLock { $0 = (request, next) }
            return try await next(request)
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        try await fixture.with(Plain("x")).send()
        // The interceptor, which the agent owns, must not keep the agent.
        let (request, next) = try #require(kept.withLock { $0.take() })
        let error = await #expect(throws: RequestError.self) { try await next(request) }
        #expect(error?.code == .processingFailed)
        #expect(error?.message.contains("had returned") == true)
        #expect(fixture.transport.requests.count == 1)
        #expect(fixture.events.names.count { $0 == "ended" } == 1)
    }

    @Test func abandonedCallIsCancelledBeforeTheRequestEnds() async throws {
        let lines = Lines()
        let gate = Gate()
        let fixture = AgentFixture.intercepting { request, next in
            let abandoned = Task {
                do throws(RequestError) {
                    _ = try await next(request)
                } catch {
                    lines.add("\(error.code)")
                }
                lines.add("abandoned call ended")
            }
            try await gate.reached()
            _ = abandoned
            return Response(status: .ok, url: request.url)
        }
        fixture.transport.on(.get, "/x", ScriptedResponse.json("{}").held(by: gate))
        let response = try await fixture.with(Plain("x")).send()
        #expect(response.status == 200 && response.data.isEmpty)
        #expect(fixture.transport.inFlight == 0)
        try await fixture.events.until { $0.contains { $0.isEnd } }
        #expect(fixture.events.names.last == "ended")
    }

    @Test func cancelledSwiftTaskCancelsOnlyItsCallOfNext() async throws {
        let gate = Gate()
        let fixture = AgentFixture.intercepting { request, next in
            let call = Task { try await next(request) }
            try await gate.reached()
            call.cancel()
            let result = await call.result
            #expect(throws: RequestError.self) { try result.get() }
            var changed = request
            changed.url.path = "/y"
            return try await next(changed)
        }
        fixture.transport.on(.get, "/x", ScriptedResponse.json("{}").held(by: gate))
        fixture.transport.on(.get, "/y", .json("{}"))
        #expect(try await fixture.with(Plain("x")).send().url.path == "/y")
    }

    // MARK: - Errors and cancellation

    @Test func thrownErrorsEndTheRequest() async throws {
        let own = RequestError(.rejected, stage: .process, "Not today.")
        let cases: [(any Error, RequestError.Code)] = [
            (own, .rejected), (CancellationError(), .cancelled), (Refused(), .processingFailed),
        ]
        for (thrown, code) in cases {
            let fixture = AgentFixture.intercepting { _, _ in throw thrown }
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(Plain("x")).send()
            }
            #expect(error?.code == code)
            #expect(error?.endpoint == "Plain" && error?.url?.string == "https://api.example.com/x")
            #expect((error?.underlying is Refused) == (code == .processingFailed))
            if code == .rejected { #expect(error?.message == "Not today.") }
            #expect(fixture.transport.requests.isEmpty)
            #expect(fixture.events.names.count { $0 == "ended" } == 1)
        }
    }

    @Test func cancellingTheRequestCancelsTheInterceptor() async throws {
        let gate = Gate()
        let lines = Lines()
        let fixture = AgentFixture.intercepting { request, _ in
            do { try await gate.passed() } catch { lines.add("\(type(of: error))") }
            // The cancellation of the request takes precedence over this response.
            return Response(status: .ok, url: request.url)
        }
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await gate.reached()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled && lines.all == ["CancellationError"])
        #expect(fixture.events.names.count { $0 == "ended" } == 1)
    }

    @Test func cancellingTheRequestCancelsTheTransferInsideNext() async throws {
        let lines = Lines()
        let fixture = AgentFixture.intercepting { request, next in
            do throws(RequestError) {
                return try await next(request)
            } catch {
                lines.add("\(error.code)")
                return try await next(request)
            }
        }
        fixture.transport.on(.get, "/x", .silence)
        let task = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.transport.nextRequest()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled && lines.all == ["cancelled"])
        #expect(fixture.transport.requests.count == 1)
        try await fixture.transport.untilIdle()
    }

    @Test func interceptorCanBeTestedWithoutAnAgent() async throws {
        let next = TransportRequest.Next(description: RequestDescription(endpoint: "E", url: "x")) {
            (request) throws(RequestError) in
            Response(status: .ok, headers: [.from: request.headers[.from] ?? ""], url: request.url)
        }
        var interceptors: [any Interceptor] = []
        interceptors.append { request, next in
            var changed = request
            changed.headers[.from] = next.description.endpoint
            return try await next(changed)
        }
        let request = TransportRequest(url: try HTTPURL(parsing: "https://a.example/"))
        let response = try await #require(interceptors.first).intercept(request, next: next)
        #expect(response.headers[.from] == "E")
    }
}

extension RequestEvent {
    fileprivate var isEnd: Bool { if case .ended = kind { true } else { false } }
}
