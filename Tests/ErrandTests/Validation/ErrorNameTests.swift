import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Errors name the request, and keep the errors of earlier attempts.
@Suite(.limited) struct ErrorNameTests {
    private final class GetIssue: BaseRequest {
        override var url: EndpointURL { "issues/25?token=hunter2" }
    }

    private final class Post: BaseRequest {
        override var url: EndpointURL { "issues" }
        override var method: HTTPMethod { .post }
        override var headers: HTTPFields { [.transferEncoding: "chunked"] }
    }

    /// An endpoint that counts reads of its overrides; the values may need `willStart`.
    private final class Upload: BaseRequest {
        private(set) var reads = 0
        private func read<Value>(_ value: Value) -> Value {
            reads += 1
            return value
        }

        override var url: EndpointURL { read("photos") }
        override var baseURL: EndpointURL? { read(nil) }
        override var method: HTTPMethod { .put }
        override var arguments: Arguments? { read(nil) }
        override var body: HTTPBody? { read(.string("photo")) }
        override var headers: HTTPFields { read([:]) }
    }

    @Test func failedStatusNamesEndpointMethodAndURL() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, nil, .json("{}", status: .notFound))
        let request = fixture.with(GetIssue())
        let error = try await failure { try await request.send() }
        #expect(error.endpoint == "GetIssue" && error.method == .get)
        #expect(error.url?.string == "https://api.example.com/issues/25")
        #expect(
            error.description.hasPrefix(
                "GetIssue GET https://api.example.com/issues/25: status 404 (expected 200..<300)"))
        #expect(request.error?.endpoint == "GetIssue")
        let end = try await fixture.events.untilEnded().last
        if case .ended(let ended?) = end?.kind { #expect(ended.url == error.url) }
    }

    @Test func errorsBeforeSendingNameTheRequest() async throws {
        let fixture = AgentFixture { $0.apiVersion = "v2" }
        let build = try await failure { try await fixture.with(Post()).send() }
        #expect(build.code == .invalidHeader && build.endpoint == "Post" && build.method == .post)
        #expect(build.url?.string == "https://api.example.com/v2/issues")
        let miss = try await failure {
            try await fixture.with(InlineRequest("x?a=b") { $0.cache.policy = .cacheOnly }).send()
        }
        #expect(miss.code == .cacheMiss && miss.url?.string == "https://api.example.com/v2/x")
        let invalid = try await failure { try await fixture.with(Plain("http://")).send() }
        #expect(invalid.code == .invalidURL && invalid.endpoint == "Plain")
        #expect(invalid.description.contains("Plain GET"))
    }

    @Test func cancellationAndDeadlineNameTheRequest() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .silence)
        let task = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.transport.nextRequest()
        task.cancel()
        let cancelled = try await failure { try await task.response() }
        #expect(
            cancelled.code == .cancelled && cancelled.url?.string == "https://api.example.com/x")
        let late = fixture.agent.start(describe("x") { $0.timeouts = Timeouts(total: .seconds(9)) })
        _ = try await fixture.transport.nextRequest()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(9))
        let timedOut = try await failure { try await late.response() }
        #expect(timedOut.timeout == .total && timedOut.url?.string == "https://api.example.com/x")
    }

    @Test func hooksAndEventsSeeNamedErrors() async throws {
        let seen = Mutex<[String?]>([])
        let fixture = AgentFixture {
            $0.retryDecider = { failed in
                seen.withLock { $0.append(failed.error.url?.string) }
                return .asPolicy
            }
            $0.errorProcessors = [
                { error in
                    let url = error.url?.string
                    seen.withLock { $0.append(url) }
                }
            ]
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .gone))
        _ = try await failure { try await fixture.with(Plain("x")).send() }
        let url = "https://api.example.com/x"
        #expect(seen.withLock { $0 } == [url, url])
        let attempts = fixture.events.events.compactMap { event in
            if case .attemptEnded(_, _, let error?) = event.kind { error.endpoint } else { nil }
        }
        #expect(attempts == ["Plain"])
    }

    @Test func errorRethrownFromAnotherRequestKeepsItsName() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/login", .json("{}", status: .unauthorized))
        // The agent owns the interceptor.
        fixture.agent.configuration.interceptors.append {
            [unowned agent = fixture.agent] request, next in
            if next.description.url == "x" {
                _ = try await agent.start(Plain("login").makeDescription()).response()
            }
            return try await next(request)
        }
        let error = try await failure { try await fixture.with(InlineRequest("x")).send() }
        #expect(error.endpoint == "Plain" && error.url?.string == "https://api.example.com/login")
    }

    @Test func memberErrorsNameTheMember() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        fixture.transport.on(.get, "/b", .json("{}", status: .gone))
        let members = ["a", "b"].map { fixture.with(Plain($0)) }
        let batch = try await failure { try await BatchRequest(members).send() }
        #expect(batch.endpoint == "Plain" && batch.url?.string == "https://api.example.com/b")
    }

    /// With one member at a time, those after the failure are never started.
    @Test func membersThatAreNotStartedNameThemselves() async throws {
        let fixture = AgentFixture {
            $0.userMessage = { $0.code == .cancelled ? "Not sent." : nil }
        }
        fixture.transport.on(.get, "/a", .json("{}", status: .gone))
        let inline = InlineRequest("c") {
            $0.method = .put
            $0.baseURL = "https://user:hunter2@other.example/v1"
        }
        let batch = BatchRequest([Plain("a"), GetIssue(), inline], maxConcurrent: 1)
        _ = try await failure { try await batch.send(on: fixture.agent) }
        #expect(fixture.transport.requests.count == 1)
        let errors = batch.results.compactMap(\.error)
        #expect(errors.map(\.code) == [.unacceptableStatus, .cancelled, .cancelled])
        #expect(errors.map(\.endpoint) == ["Plain", "GetIssue", "InlineRequest"])
        #expect(errors.map(\.method) == [.get, .get, .put])
        #expect(
            errors.map(\.url?.string) == [
                "https://api.example.com/a", "https://api.example.com/issues/25",
                "https://other.example/v1/c",
            ])
        #expect(errors.map(\.userMessage) == [nil, "Not sent.", "Not sent."])
        #expect(errors.last?.message.contains("not started") == true)
    }

    @Test func membersOfAnImpossibleBatchNameThemselves() async throws {
        let fixture = AgentFixture()
        let batch = BatchRequest([fixture.with(GetIssue())], policy: .quorum(2))
        _ = try await failure { try await batch.send() }
        let error = try #require(batch.results.first?.error)
        #expect(error.endpoint == "GetIssue" && error.method == .get && error.url == nil)
        #expect(error.message.contains("its batch ended without it"))
    }

    @Test func overridesOfAnImpossibleBatchAreNotRead() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/a", .json("{}", status: .gone))
        let uploads = (0..<3).map { _ in Upload() }
        let decoded = InlineRequest("c").decoding(Int.self)
        let members: [BaseRequest] = [Plain("a")] + uploads + [decoded]
        let batch = BatchRequest(members, maxConcurrent: 1)
        _ = try await failure { try await batch.send(on: fixture.agent) }
        let errors = batch.results.compactMap(\.error)
        #expect(errors[1...3].allSatisfy { $0.endpoint == "Upload" && $0.method == .put })
        #expect(errors.last?.endpoint == "InlineRequest")
        #expect(errors.last?.url?.string == "https://api.example.com/c")
        // All members were described before the first was sent, once.
        let reads = uploads.map(\.reads)
        #expect(Set(reads).count == 1)
        let impossible = BatchRequest(uploads, policy: .quorum(4))
        _ = try await failure { try await impossible.send(on: fixture.agent) }
        #expect(impossible.results.compactMap(\.error).count == 3)
        #expect(uploads.map(\.reads) == reads)
    }

    @Test func joinedRequestsNameThemselves() async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/shared",
            ScriptedResponse.failure(.init(.connectionLost, stage: .transport, "x"))
                .held(by: gate))
        let first = fixture.agent.start(JoiningRequest().makeDescription())
        try await gate.reached()
        let second = fixture.agent.start(describe("shared") { $0.sending.duplicates = .join })
        try await fixture.untilJoined(1)
        gate.open()
        let errors = [
            try await failure { try await first.response() },
            try await failure { try await second.response() },
        ]
        #expect(errors[0].endpoint == "JoiningRequest" && errors[1].endpoint == "Described")
        #expect(errors[0].url == errors[1].url && errors[0].url != nil)
    }

    // MARK: - Earlier attempts

    @Test func errorsOfEarlierAttemptsAreKept() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
        fixture.transport.on(
            .get, "/x", .json("{}", status: .serviceUnavailable),
            .failure(RequestError(.connectionLost, stage: .transport, "lost")),
            .json("{}", status: .badGateway))
        let error = try await failure { try await fixture.with(Plain("x")).send() }
        #expect(error.status == 502 && error.attempts == 3)
        #expect(error.previousErrors.map(\.code) == [.unacceptableStatus, .connectionLost])
        #expect(error.previousErrors.map(\.attempts) == [1, 2])
        #expect(error.previousErrors.first?.status == 503)
        #expect(error.previousErrors.allSatisfy { $0.endpoint == "Plain" })
    }

    @Test func cancellationDuringAPauseKeepsTheErrors() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = .attempts(3)
            $0.retryDecider = { _ in .again(after: .seconds(60)) }
        }
        fixture.transport.on(.get, "/x", .json("{}", status: .gone))
        let task = fixture.agent.start(Plain("x").makeDescription())
        try await fixture.clock.untilSleeping()
        task.cancel()
        let error = try await failure { try await task.response() }
        #expect(error.code == .cancelled && error.attempts == 1)
        #expect(error.previousErrors.map(\.status) == [410])
        #expect(error.url?.string == "https://api.example.com/x")
    }

    private func describe(
        _ url: String, _ change: (inout RequestDescription) -> Void
    ) -> RequestDescription {
        var description = RequestDescription(endpoint: "Described", url: EndpointURL(raw: url))
        change(&description)
        return description
    }

    private func failure<Value>(
        _ body: () async throws -> Value
    ) async throws -> RequestError {
        do {
            _ = try await body()
        } catch let error as RequestError {
            return error
        }
        Issue.record("the request succeeded")
        return .cancelled
    }
}

extension Result where Failure == RequestError {
    fileprivate var error: RequestError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
