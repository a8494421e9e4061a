import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// `Configuration.prepare`, and the hooks for work that suspends or fails.
@Suite(.limited) struct PrepareTests {
    private func fixture(
        _ prepare: @escaping @Sendable (inout RequestDescription) -> Void
    ) -> AgentFixture {
        let fixture = AgentFixture { $0.prepare = prepare }
        fixture.transport.on(nil, nil, .json("[1]"))
        return fixture
    }

    private func url(
        of request: BaseRequest, _ prepare: @escaping @Sendable (inout RequestDescription) -> Void
    ) async throws -> String {
        let fixture = fixture(prepare)
        try await request.send(on: fixture.agent)
        return try #require(fixture.transport.requests.first).url.string
    }

    // MARK: - The URL

    @Test func urlIsChangedForEndpointsOfAClass() async throws {
        let change: @Sendable (inout RequestDescription) -> Void = { request in
            guard request.isA(Plain.self), !request.url.isAbsolute else { return }
            request.url = "v2/\(request.url)?full=1"
        }
        #expect(try await url(of: Plain("x"), change) == "https://api.example.com/v2/x?full=1")
        #expect(try await url(of: InlineRequest("x"), change) == "https://api.example.com/x")
        let absolute = try await url(of: Plain("https://other.example/x"), change)
        #expect(absolute == "https://other.example/x")
    }

    @Test func baseVersionAndComponentsAreChanged() async throws {
        let based = try await url(of: Plain("x")) {
            $0.baseURL = "https://mirror.example:8443"
            $0.apiVersion = "v3"
        }
        #expect(based == "https://mirror.example:8443/v3/x")
        let parsed = try await url(of: Plain("https://other.example/a?b=c")) { request in
            guard var url = try? HTTPURL(parsing: request.url.description) else { return }
            (url.host, url.port) = ("mirror.example", 8443)
            request.url = EndpointURL(url)
        }
        #expect(parsed == "https://mirror.example:8443/a?b=c")
    }

    /// A value in the query is data, whatever the method is and the arguments are.
    @Test func queryIsAddedToARequestWithABody() async throws {
        let fixture = fixture { request in
            let platform = "a&b=1"
            request.url = "\(request.url)?platform=\(platform)"
        }
        let post = InlineRequest("x") {
            $0.method = .post
            $0.arguments = ["own": 1]
        }
        try await post.send(on: fixture.agent)
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.url.query == "platform=a%26b%3D1")
        #expect(try await sent.collectedBody() == Data("own=1".utf8))
    }

    /// An argument that the endpoint has is not added.
    @Test func argumentsAreAddedBeforeTheyAreEncoded() async throws {
        let prepare: @Sendable (inout RequestDescription) -> Void = { request in
            let added: Arguments = ["k": "v w", "own": 1]
            request.arguments = added.merging(request.arguments ?? [:])
            request.argumentPlacement = .query
        }
        let own = InlineRequest("x") {
            $0.method = .post
            $0.arguments = ["own": 2]
        }
        #expect(try await url(of: own, prepare) == "https://api.example.com/x?k=v%20w&own=2")
    }

    @Test func resultIsChecked() async throws {
        for change: @Sendable (inout RequestDescription) -> Void in [
            { $0.url = "users/\("..")" }, { $0.url = "https://[broken" },
        ] {
            let fixture = fixture(change)
            let error = await #expect(throws: RequestError.self) {
                try await Plain("x").send(on: fixture.agent)
            }
            #expect(error?.code == .invalidURL && fixture.transport.requests.isEmpty)
        }
    }

    @Test func settingsThatItLeavesUnsetComeFromTheConfiguration() async throws {
        let fixture = AgentFixture {
            $0.acceptableContentTypes = ["application/json"]
            $0.prepare = { request in
                if request.url == "page" { request.acceptance.contentTypes = ["text/html"] }
            }
        }
        fixture.transport.on(
            nil, nil, ScriptedResponse(headers: [.contentType: "text/html"], body: Data("a".utf8)))
        try await Plain("page").send(on: fixture.agent)
        let error = await #expect(throws: RequestError.self) {
            try await Plain("other").send(on: fixture.agent)
        }
        #expect(error?.code == .unacceptableContentType)
    }

    // MARK: - Every start, once

    private static func count(_ request: inout RequestDescription) {
        request.url = "\(request.url)?v=1"
    }

    private final class Numbers: BaseRequest, DecodableOutput {
        typealias Output = [Int]
        override var url: EndpointURL { "numbers" }
        override var cacheSeconds: Int { 60 }
    }

    @Test func membersAndStreamsArePrepared() async throws {
        let fixture = fixture { Self.count(&$0) }
        try await BatchRequest([fixture.with(Plain("a")), fixture.with(Plain("b"))]).send()
        let chain = ChainRequest()
        chain.add(fixture.with(Plain("c"))).then { _ in fixture.with(Plain("d")) }
        try await chain.send()
        for try await _ in try await fixture.with(Plain("e")).stream().lines {}
        let sent = fixture.transport.requests.map(\.url.string).sorted()
        #expect(sent == ["a", "b", "c", "d", "e"].map { "https://api.example.com/\($0)?v=1" })
    }

    /// A link of the server replaces the URL of the endpoint; the other settings stay.
    @Test func pagesArePrepared() async throws {
        let fixture = AgentFixture {
            $0.prepare = { request in
                Self.count(&request)
                request.headers[.from] = "prepared"
            }
        }
        let link = try #require(HTTPField.Name("Link"))
        fixture.transport.respond { request in
            request.url.query?.contains("page=2") == true
                ? .json("[2]")
                : ScriptedResponse(
                    headers: [
                        .contentType: "application/json", link: "</numbers?page=2>; rel=\"next\"",
                    ], body: Data("[1]".utf8))
        }
        var values: [[Int]] = []
        for try await page in fixture.with(Numbers()).pages(.link) { values.append(page) }
        #expect(values == [[1], [2]])
        #expect(fixture.transport.requests.map(\.url.query) == ["v=1", "page=2"])
        #expect(fixture.transport.requests.allSatisfy { $0.headers[.from] == "prepared" })
    }

    @Test func storedResponsesAreFoundByThePreparedRequest() async throws {
        let fixture = fixture { Self.count(&$0) }
        try await fixture.with(Numbers()).send()
        await fixture.agent.flushCache()
        #expect(try await fixture.with(Numbers()).cachedResponse()?.data == Data("[1]".utf8))
        #expect(try await fixture.with(Numbers()).send().source == .cacheFresh)
        #expect(fixture.transport.requests.count == 1)
    }

    /// Retries repeat the request, and a description of a task that is started again is prepared already.
    @Test func startsOfOneDescriptionArePreparedOnce() async throws {
        let seen = Mutex<RequestDescription?>(nil)
        let fixture = AgentFixture {
            $0.prepare = { Self.count(&$0) }
            $0.errorRecovery = { _, description in
                seen.withLock { $0 = description }
                return nil
            }
        }
        fixture.transport.on(nil, nil, .json("1", status: .notFound), .json("1"))
        await #expect(throws: RequestError.self) { try await Plain("x").send(on: fixture.agent) }
        let description = try #require(seen.withLock { $0 })
        _ = try await fixture.agent.start(description).response()
        #expect(fixture.transport.requests.map(\.url.query) == ["v=1", "v=1"])
    }

    @Test func previewIsPrepared() async throws {
        let fixture = fixture { Self.count(&$0) }
        let request = try await fixture.agent.transportRequest(for: Plain("x").makeDescription())
        #expect(request.url.query == "v=1")
    }

    /// A policy that delivers two responses is refused for a member, also if the agent sets it.
    @Test func policyOfAMemberIsChecked() async throws {
        let fixture = fixture { $0.cache.policy = .cacheThenLoad }
        let error = await #expect(throws: RequestError.self) {
            try await BatchRequest([fixture.with(Plain("x"))]).send()
        }
        #expect(error?.code == .invalidCombination && fixture.transport.requests.isEmpty)
    }

    // MARK: - Work that suspends or fails

    @Test func interceptorMaySuspendAndChangeTheAbsoluteURL() async throws {
        let host = Mutex("api.example.com")
        let fixture = AgentFixture {
            $0.interceptors.append { request, next in
                var request = request
                await Task.yield()
                request.url.host = host.withLock { $0 }
                return try await next(request)
            }
        }
        fixture.transport.on(nil, nil, .json("{}"))
        host.withLock { $0 = "mirror.example.com" }
        try await Plain("x").send(on: fixture.agent)
        #expect(
            fixture.transport.requests.map(\.url.string) == ["https://mirror.example.com/x"])
        host.withLock { $0 = "a@b.example" }
        let error = await #expect(throws: RequestError.self) {
            try await Plain("x").send(on: fixture.agent)
        }
        #expect(error?.code == .invalidURL && fixture.transport.requests.count == 1)
    }

    @Test func requestProcessorMayThrow() async throws {
        struct Refused: Error {}
        let own = RequestError(.offline, stage: .adapt, "Not now.")
        for (thrown, code) in [
            (Refused() as any Error, RequestError.Code.adaptationFailed), (own, .offline),
        ] {
            let fixture = AgentFixture {
                $0.requestProcessors = [{ _, _, _ in throw thrown }]
            }
            let error = await #expect(throws: RequestError.self) {
                try await Plain("x").send(on: fixture.agent)
            }
            #expect(error?.code == code && fixture.transport.requests.isEmpty)
        }
    }

    /// A transport without a check of its own receives no invalid URL.
    @Test func requestProcessorCannotWriteAnInvalidHost() async throws {
        let fixture = AgentFixture {
            $0.requestProcessors = [
                { request, _, _ in
                    request.url.host = "api.example.com@evil.example"
                }
            ]
        }
        let error = await #expect(throws: RequestError.self) {
            try await Plain("x").send(on: fixture.agent)
        }
        #expect(error?.code == .invalidURL && fixture.transport.requests.isEmpty)
    }
}
