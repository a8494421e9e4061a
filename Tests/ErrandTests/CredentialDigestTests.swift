import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct CredentialDigestTests {
    private func world() -> World {
        World {
            $0.authenticators = [
                HostAuthenticator(
                    "api.example.com", DigestAuthenticator(user: "u", password: "p"))
            ]
        }
    }

    private func refusal(_ nonce: String, stale: Bool = false) -> ScriptedAnswer {
        ScriptedAnswer(
            status: .unauthorized,
            headers: [
                .wwwAuthenticate:
                    "Basic realm=\"r\", Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=SHA-256\(stale ? ", stale=true" : "")"
            ])
    }

    private func sent(_ world: World, _ name: String) -> [String?] {
        world.transport.requests.map { request in
            request.headers[.authorization].flatMap {
                AuthenticationChallenge.parse([$0]).first?[name]
            }
        }
    }

    @Test func theChallengeIsLearntOnceAndCounted() async throws {
        let world = world()
        world.transport.on(.get, "/x", refusal("n1"), .json("{}"))
        try await world.with(Plain("x")).send()
        try await world.with(Plain("x?q=1")).send()
        #expect(sent(world, "nonce") == [nil, "n1", "n1"])
        #expect(sent(world, "nc") == [nil, "00000001", "00000002"])
        #expect(sent(world, "uri") == [nil, "/x", "/x?q=1"])
    }

    @Test func anAgedNonceIsReplaced() async throws {
        let world = world()
        world.transport.on(
            .get, "/x", refusal("n1"), .json("{}"), refusal("n2", stale: true), .json("{}"))
        try await world.with(Plain("x")).send()
        try await world.with(Plain("x")).send()
        #expect(sent(world, "nonce") == [nil, "n1", "n1", "n2"])
        #expect(sent(world, "nc").last == "00000001")
    }

    @Test func theNextNonceIsTaken() async throws {
        let world = world()
        let next = ScriptedAnswer(
            status: .ok,
            headers: [
                .contentType: "application/json",
                .authenticationInfo: "qop=auth, nextnonce=\"n2\"",
            ], body: Data("{}".utf8))
        world.transport.on(.get, "/x", refusal("n1"), next)
        try await world.with(Plain("x")).send()
        try await world.with(Plain("x")).send()
        #expect(sent(world, "nonce") == [nil, "n1", "n2"])
        #expect(sent(world, "nc") == [nil, "00000001", "00000001"])
    }

    @Test func aWrongPasswordEndsWithTheRefusal() async throws {
        let world = world()
        world.transport.on(.get, "/x", refusal("n1"), refusal("n2"))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(Plain("x")).send()
        }
        #expect(error?.response?.status == .unauthorized)
        #expect(world.transport.requests.count == 2)
    }

    @Test func eachHopOfARedirectIsSignedForItself() async throws {
        let world = world()
        world.transport.on(
            .get, "/x", refusal("n1"),
            ScriptedAnswer(status: .found, headers: [.location: "/y"]))
        world.transport.on(.get, "/y", .json("{}"))
        try await world.with(Plain("x")).send()
        #expect(sent(world, "uri") == [nil, "/x", "/y"])
        #expect(sent(world, "nc") == [nil, "00000001", "00000002"])
    }

    @Test func otherSchemesEndWithTheRefusal() async throws {
        let world = world()
        world.transport.on(
            .get, "/x",
            ScriptedAnswer(status: .unauthorized, headers: [.wwwAuthenticate: "Negotiate"]))
        await #expect(throws: RequestError.self) { try await world.with(Plain("x")).send() }
        #expect(world.transport.requests.count == 1)
    }
}
