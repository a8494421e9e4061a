import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

final class CachedUser: JSONRequest<User> {
    override var url: EndpointURL { "users" }
    override var cacheSeconds: Int { 60 }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cache.writesAsynchronously = false
    }
}

/// Responses are shared and cached per credentials, and only acceptable responses are stored.
@Suite(.limited) struct UserSeparationTests {
    private func profileRequest(_ token: String, _ fixture: AgentFixture) -> InlineRequest {
        fixture.with(
            InlineRequest("me") {
                $0.authorization = .bearer(token)
                $0.sending.duplicates = .join
                $0.cacheSeconds = 60
                $0.cache.writesAsynchronously = false
            })
    }

    @Test func requestsOfTwoUsersDoNotShareATransfer() async throws {
        let fixture = AgentFixture()
        let gate = Gate()
        fixture.transport.on(
            .get, "/me", ScriptedResponse.json(#"{"n":1}"#).held(by: gate),
            ScriptedResponse.json(#"{"n":2}"#).held(by: gate))
        let first = fixture.agent.start(profileRequest("a", fixture).makeDescription())
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(profileRequest("b", fixture).makeDescription())
        _ = try await fixture.transport.nextRequest()
        gate.open()
        let numbers = [
            try await first.response().json["n"].int, try await second.response().json["n"].int,
        ]
        #expect(Set(numbers) == [1, 2])
    }

    @Test func cachedResponsesOfTwoUsersAreSeparate() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/me", .json(#"{"n":1}"#), .json(#"{"n":2}"#))
        #expect(try await profileRequest("a", fixture).send().json["n"].int == 1)
        #expect(try await profileRequest("b", fixture).send().json["n"].int == 2)
        #expect(try await profileRequest("a", fixture).send().source == .cacheFresh)
        fixture.agent.configuration.cacheIdentity = "c"
        fixture.transport.on(.get, "/me", .json(#"{"n":3}"#))
        #expect(try await profileRequest("a", fixture).send().source == .network)
    }

    /// A processor that sends the credentials of the present user.
    @Test func responseOfARetryForAnotherUserIsNotStored() async throws {
        let user = Mutex("a")
        let fixture = AgentFixture {
            $0.retryPolicy = .attempts(2)
            $0.requestProcessors = [
                { request, _, _ in
                    request.headers[.authorization] = "Bearer \(user.withLock { $0 })"
                }
            ]
        }
        fixture.transport.respond { request in
            guard request.headers[.authorization] == "Bearer a" else { return .json(#"{"n":2}"#) }
            user.withLock { $0 = "b" }
            return ScriptedResponse(status: .serviceUnavailable)
        }
        func request() -> InlineRequest {
            fixture.with(
                InlineRequest("me") {
                    $0.cacheSeconds = 60
                    $0.cache.writesAsynchronously = false
                })
        }
        let first = fixture.agent.start(request().makeDescription())
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(60))
        #expect(try await first.response().json["n"].int == 2)
        user.withLock { $0 = "a" }
        fixture.transport.respond { _ in .json(#"{"n":1}"#) }
        let response = try await request().send()
        #expect(response.source == .network && response.json["n"].int == 1)
    }

    @Test func undecodableResponseIsNotStored() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/users", .json(#"{"error":"busy"}"#), .json(#"{"nick":"a","level":1}"#))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(CachedUser()).value()
        }
        #expect(error?.code == .undecodable)
        #expect(try await fixture.with(CachedUser()).value().nick == "a")
        #expect(try await fixture.with(CachedUser()).send().source == .cacheFresh)
    }

    @Test func credentialRefreshNeedsNoConcurrencyPermit() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        fixture.transport.respond { request in
            request.url.path == "/token" || request.headers[.authorization] == "Bearer new"
                ? .json("{}") : ScriptedResponse(status: .unauthorized)
        }
        let agent = fixture.agent
        let tokens = RefreshableToken()
        // The agent and the refresh closure below retain each other.
        defer { agent.configuration.authenticators = [:] }
        agent.configuration.authenticators = [
            "*.example.com": .bearer {
                tokens.current
            } refresh: {
                _ = try await agent.start(RequestDescription(endpoint: "Token", url: "token"))
                    .response()
                tokens.refresh()
            }
        ]
        #expect(try await fixture.with(Plain("x")).send().status == 200)
    }

    @Test func captivePortalPageIsNotSavedAsADownload() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/photo",
            ScriptedResponse(headers: [.contentType: "text/html"], body: Data("<html>".utf8)))
        let request = fixture.with(
            InlineRequest("photo") {
                $0.download = DownloadPlan(to: folder.appendingPathComponent("p.jpg"))
                $0.acceptance.contentTypes = ["image/*"]
            })
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == .unacceptableContentType)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
