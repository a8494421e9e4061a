import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Values in bodies and arguments: encoded once per start; a failure ends the request before anything is sent.
@Suite(.limited) struct JSONBodyTests {
    private struct NewIssue: Encodable {
        var issueTitle = "a"
        var dueAt = Date(timeIntervalSince1970: 1)
        var ratio = 1.0
    }

    private class PostIssue: BaseRequest {
        let issue: NewIssue
        init(_ issue: NewIssue = NewIssue()) { self.issue = issue }
        override var url: EndpointURL { "issues" }
        override var method: HTTPMethod { .post }
        override var body: HTTPBody? { .json(issue) }
    }

    private final class PostWithEncoder: PostIssue {
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.dates = .millisecondsSince1970
        }
    }

    private final class FormIssue: BaseRequest {
        let issue: NewIssue
        init(_ issue: NewIssue) { self.issue = issue }
        override var url: EndpointURL { "issues" }
        override var method: HTTPMethod { .post }
        override var arguments: Arguments? { Arguments(encoding: issue) }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.keys = .snakeCase
        }
    }

    private func sentBody(
        of request: BaseRequest, _ configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> String {
        let fixture = AgentFixture(configure)
        fixture.transport.on(nil, nil, .json("{}"))
        try await request.send(on: fixture.agent)
        let sent = try #require(fixture.transport.requests.first)
        return String(decoding: try await sent.collectedBody(), as: UTF8.self)
    }

    @Test func encoderOfConfigurationAndEndpointApply() async throws {
        #expect(
            try await sentBody(of: PostIssue())
                == #"{"issueTitle":"a","dueAt":"1970-01-01T00:00:01Z","ratio":1}"#)
        let snake = try await sentBody(of: PostIssue()) {
            $0.json.keys = .snakeCase
        }
        #expect(snake == #"{"issue_title":"a","due_at":"1970-01-01T00:00:01Z","ratio":1}"#)
        let own = try await sentBody(of: PostWithEncoder()) {
            $0.json.keys = .snakeCase
        }
        // The endpoint sets the dates; the keys stay those of the configuration.
        #expect(own == #"{"issue_title":"a","due_at":1000,"ratio":1}"#)
        #expect(
            try await sentBody(of: FormIssue(NewIssue()))
                == "issue_title=a&due_at=1970-01-01T00%3A00%3A01Z&ratio=1")
    }

    @Test func valueThatCannotBeEncodedEndsTheRequestBeforeItIsSent() async throws {
        let issue = NewIssue(ratio: .nan)
        let requests: [(BaseRequest, RequestError.Code)] = [
            (PostIssue(issue), .invalidBody), (FormIssue(issue), .invalidArguments),
            (
                InlineRequest("x") {
                    $0.method = .post
                    $0.body = .multipart([.json("issue", issue)])
                }, .invalidBody
            ),
        ]
        for (request, code) in requests {
            let fixture = AgentFixture()
            let error = await #expect(throws: RequestError.self) {
                try await request.send(on: fixture.agent)
            }
            #expect(error?.code == code && error?.stage == .build && error?.attempts == 0)
            #expect(fixture.transport.requests.isEmpty)
        }
    }

    /// Counts how often it is encoded.
    private struct Counted: Encodable, Sendable {
        let count: Counter
        final class Counter: Sendable {
            let value = Atomic(0)
        }
        func encode(to encoder: any Encoder) throws {
            count.value.add(1, ordering: .relaxed)
            try ["n": 1].encode(to: encoder)
        }
    }

    private final class PutCounted: BaseRequest {
        let counter = Counted.Counter()
        override var url: EndpointURL { "counted" }
        override var method: HTTPMethod { .put }
        override var body: HTTPBody? { .json(Counted(count: counter)) }
        override var cacheSeconds: Int { 60 }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.sending.duplicates = .join
        }
        override var retryPolicy: RetryPolicy? {
            RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
    }

    @Test func valueIsEncodedOncePerStart() async throws {
        let fixture = AgentFixture {
            $0.retryDecider = { _ in .again(after: .zero) }
            $0.requestProcessors = [
                { request, _, _ in
                    request.headers[.from] = "\(try await request.body?.bytes().count ?? -1)"
                }
            ]
        }
        let busy = ScriptedResponse.json("{}", status: .serviceUnavailable)
        fixture.transport.on(.put, "/counted", busy, busy, .json("{}"))
        let request = PutCounted()
        #expect(try await request.send(on: fixture.agent).attempts == 3)
        #expect(request.counter.value.load(ordering: .relaxed) == 1)
        #expect(fixture.transport.requests.map { $0.headers[.from] } == ["7", "7", "7"])
        // The cache key contains the digest of the bytes.
        await fixture.agent.flushCache()
        let equal = try await PutCounted().send(on: fixture.agent)
        #expect(equal.source == .cacheFresh)
    }

    @Test func equalValuesJoinOneTransfer() async throws {
        final class Join: PostIssue {
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.sending.duplicates = .join
            }
        }
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(.post, "/issues", ScriptedResponse.json("{}").held(by: gate))
        let tasks = (0..<3).map { _ in fixture.agent.start(Join().makeDescription()) }
        try await fixture.untilJoined(2)
        gate.open()
        for task in tasks { _ = try await task.response() }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func previewShowsTheEncodedValue() async throws {
        let fixture = AgentFixture { $0.json.keys = .snakeCase }
        let command = try await fixture.agent.curlCommand(
            for: PostIssue(), redactsSecrets: false)
        #expect(command.contains(#"{"issue_title":"a""#))
    }

    /// Replaces the body by a value.
    private static let replacing:
        @Sendable (inout TransportRequest, RequestDescription, Int) -> Void = { request, _, _ in
            request.body = .json(NewIssue(issueTitle: "hook"))
        }

    @Test func valuesThatHooksSetAreEncodedTheSameWay() async throws {
        let expected = #"{"issue_title":"hook","due_at":"1970-01-01T00:00:01Z","ratio":1}"#
        let configurations: [(inout Configuration) -> Void] = [
            { $0.requestProcessors = [Self.replacing] },
            {
                $0.interceptors.append { request, next in
                    var request = request
                    request.body = .json(NewIssue(issueTitle: "hook"))
                    return try await next(request)
                }
            },
        ]
        for configure in configurations {
            let sent = try await sentBody(of: PostIssue()) {
                configure(&$0)
                $0.json.keys = .snakeCase
            }
            #expect(sent == expected)
        }
        let fixture = AgentFixture {
            $0.requestProcessors = [
                { request, _, _ in
                    request.body = .json(NewIssue(ratio: .nan))
                }
            ]
        }
        let error = await #expect(throws: RequestError.self) {
            try await PostIssue().send(on: fixture.agent)
        }
        #expect(error?.code == .invalidBody && fixture.transport.requests.isEmpty)
    }

    @Test func redirectDeciderCanSendAValue() async throws {
        let fixture = AgentFixture {
            $0.json.keys = .snakeCase
            $0.redirectDecider = { redirect in
                var request = redirect.request
                request.method = .post
                request.body = .json(NewIssue(issueTitle: "hook"))
                return .follow(request)
            }
        }
        fixture.transport.on(
            .post, "/issues", ScriptedResponse(status: .found, headers: [.location: "/next"]))
        fixture.transport.on(.post, "/next", .json("{}"))
        try await PostIssue().send(on: fixture.agent)
        let last = try #require(fixture.transport.requests.last)
        let body = String(decoding: try await last.collectedBody(), as: UTF8.self)
        #expect(body.hasPrefix(#"{"issue_title":"hook""#))
    }
}
