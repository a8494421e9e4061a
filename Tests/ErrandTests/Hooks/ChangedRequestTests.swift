import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Requests that an interceptor has changed: cache keys, shared transfers, credentials, checks.
@Suite(.limited) struct ChangedRequestTests {
    @Test func changedRequestHasItsOwnCacheEntry() async throws {
        let language = Mutex("en")
        let fixture = AgentFixture.intercepting { request, next in
            var changed = request
            changed.headers[.acceptLanguage] = language.withLock { $0 }
            changed.headers[.from] = UUID().uuidString
            return try await next(changed)
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        let nonce = Mutex(0)
        func send() async throws -> Response.Source {
            let request = InlineRequest("x") {
                $0.cacheSeconds = 60
                $0.cache.writesAsynchronously = false
                $0.arguments = [
                    "id": 7,
                    "nonce": nonce.withLock {
                        $0 += 1; return $0
                    },
                ]
                $0.cache.arguments = ["id": 7]
            }
            return try await fixture.with(request).send().source
        }
        #expect(try await send() == .network)
        #expect(try await send() == .cacheFresh)
        language.withLock { $0 = "de" }
        #expect(try await send() == .network)
        #expect(try await send() == .cacheFresh)
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func changedURLAndBodyHaveTheirOwnCacheEntries() async throws {
        let text = Mutex("a")
        let fixture = AgentFixture.intercepting { request, next in
            var changed = request
            let text = text.withLock { $0 }
            if request.method == .get {
                changed.url.path = "/\(text)"
            } else {
                changed.body = .string(text)
            }
            return try await next(changed)
        }
        fixture.transport.on(nil, nil, .json("{}"))
        for method in [HTTPMethod.get, .post] {
            var sources: [Response.Source] = []
            for value in ["a", "a", "b", "b"] {
                text.withLock { $0 = value }
                let request = InlineRequest("x") {
                    $0.method = method
                    $0.cacheSeconds = 60
                    $0.cache.writesAsynchronously = false
                }
                sources.append(try await fixture.with(request).send().source)
            }
            #expect(sources == [.network, .cacheFresh, .network, .cacheFresh], "\(method)")
        }
    }

    @Test func onlyRequestsThatStayIdenticalShareATransfer() async throws {
        let gate = Gate()
        let fixture = AgentFixture.intercepting { request, next in
            var changed = request
            changed.headers[.from] = "\(next.description.tag)"
            return try await next(changed)
        }
        fixture.transport.on(.get, "/shared", ScriptedResponse.json("{}").held(by: gate))
        let tasks = [1, 1, 2].map { tag in
            let request = JoiningRequest()
            request.tag = tag
            return fixture.agent.start(request.makeDescription())
        }
        try await fixture.untilJoined(1)
        try await gate.reached(times: 2)
        gate.open()
        for task in tasks { _ = try await task.response() }
        #expect(
            fixture.transport.requests.map { $0.headers[.from] }.sorted { $0 ?? "" < $1 ?? "" } == [
                "1", "2",
            ])
    }

    @Test func credentialsAreNotSentToAnotherOrigin() async throws {
        let fixture = AgentFixture.intercepting {
            $0.hostHeaders = ["api.example.com": [.age: "bound"]]
        } _: { request, next in
            var changed = request
            changed.url.host = "other.example.com"
            changed.headers[.from] = "kept"
            return try await next(changed)
        }
        fixture.transport.on(.get, "/x", .json("{}"))
        let request = InlineRequest("x") { $0.authorization = .bearer("secret") }
        try await fixture.with(request).send()
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.url.string == "https://other.example.com/x")
        #expect(sent.headers[.authorization] == nil && sent.headers[.age] == nil)
        #expect(sent.headers[.from] == "kept")
    }

    @Test func changesThatCannotBeSentAreRefused() async throws {
        let changes: [(RequestError.Code, @Sendable (inout TransportRequest) -> Void)] = [
            (.invalidURL, { $0.url.host = "a@b.example" }), (.invalidURL, { $0.url.host = nil }),
            (.invalidURL, { $0.url.scheme = "ftp" }), (.invalidURL, { $0.url.userInfo = "a:b" }),
            (.invalidMethod, { $0.method = "G ET" }),
            (.invalidConfiguration, { $0.timeouts.idle = .zero }),
            (.invalidCombination, { $0.timeouts.total = .seconds(1) }),
            (.invalidBody, { $0.body = .file(URL(fileURLWithPath: "/nonexistent/file")) }),
            (
                .invalidCombination,
                {
                    $0.method = .head
                    $0.body = .string("x")
                }
            ),
        ]
        for (index, (code, change)) in changes.enumerated() {
            let fixture = AgentFixture.intercepting { request, next in
                var changed = request
                change(&changed)
                return try await next(changed)
            }
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(Plain("x")).send()
            }
            #expect(error?.code == code, "change \(index): \(String(describing: error))")
            #expect(fixture.transport.requests.isEmpty)
        }
    }
}
