import Errand
import ErrandTesting
import Foundation
import Testing

final class CachedUser: JSONRequest<User> {
    override var url: String { "users" }
    override var cacheSeconds: Int { 60 }
    override var writesCacheAsynchronously: Bool { false }
}

/// An answer belongs to whoever asked with the credentials that were shown, and only answers that were of use
/// are kept.
@Suite(.timeLimit(.minutes(5))) struct OwnershipTests {
    private func me(_ token: String, _ world: World) -> InlineRequest {
        world.with(
            InlineRequest("me") {
                $0.authorization = .bearer(token)
                $0.duplicatePolicy = .join
                $0.cacheSeconds = 60
                $0.writesCacheAsynchronously = false
            })
    }

    @Test func requestsOfTwoUsersAreNotJoined() async throws {
        let world = World()
        let gate = Gate()
        world.transport.on(
            .get, "/me", ScriptedAnswer.json(#"{"n":1}"#).held(by: gate),
            ScriptedAnswer.json(#"{"n":2}"#).held(by: gate))
        let first = world.agent.start(me("a", world).describe())
        _ = try await world.transport.nextRequest()
        let second = world.agent.start(me("b", world).describe())
        _ = try await world.transport.nextRequest()
        gate.open()
        let numbers = [
            try await first.response().json["n"].int, try await second.response().json["n"].int,
        ]
        #expect(Set(numbers) == [1, 2])
    }

    @Test func cachedAnswersOfTwoUsersAreKeptApart() async throws {
        let world = World()
        world.transport.on(.get, "/me", .json(#"{"n":1}"#), .json(#"{"n":2}"#))
        #expect(try await me("a", world).send().json["n"].int == 1)
        #expect(try await me("b", world).send().json["n"].int == 2)
        #expect(try await me("a", world).send().source == .cacheFresh)
        world.agent.configuration.cacheIdentity = "c"
        world.transport.on(.get, "/me", .json(#"{"n":3}"#))
        #expect(try await me("a", world).send().source == .network)
    }

    @Test func whatCannotBeDecodedIsNotKept() async throws {
        let world = World()
        world.transport.on(
            .get, "/users", .json(#"{"error":"busy"}"#), .json(#"{"nick":"a","level":1}"#))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(CachedUser()).value()
        }
        #expect(error?.code == .undecodable)
        #expect(try await world.with(CachedUser()).value().nick == "a")
        #expect(try await world.with(CachedUser()).send().source == .cacheFresh)
    }

    @Test func renewingCredentialsNeedsNoPlace() async throws {
        let world = World { $0.maximumRequestsInFlight = 1 }
        world.transport.answer { request in
            request.url.path == "/token" || request.headers[.authorization] == "Bearer new"
                ? .json("{}") : ScriptedAnswer(status: .unauthorized)
        }
        let agent = world.agent
        let tokens = TokenBox()
        // The agent holds the closure below, and that the agent.
        defer { agent.configuration.authenticators = [] }
        agent.configuration.authenticators = [
            HostAuthenticator(
                "*.example.com",
                BearerAuthenticator {
                    tokens.current
                } refresh: {
                    _ = try await agent.start(RequestDescription(endpoint: "Token", url: "token"))
                        .response()
                    tokens.renew()
                })
        ]
        #expect(try await world.with(Plain("x")).send().status == 200)
    }

    @Test func aPortalsPageDoesNotBecomeTheDownload() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World()
        world.transport.on(
            .get, "/photo",
            ScriptedAnswer(headers: [.contentType: "text/html"], body: Data("<html>".utf8)))
        let request = world.with(
            InlineRequest("photo") {
                $0.download = DownloadPlan(destination: folder.appendingPathComponent("p.jpg"))
                $0.acceptableContentTypes = .types(["image/*"])
            })
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == .unacceptableContentType)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
