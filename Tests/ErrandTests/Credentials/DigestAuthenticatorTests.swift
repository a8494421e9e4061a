import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) struct DigestAuthenticatorTests {
    private func fixture() -> AgentFixture {
        AgentFixture {
            $0.authenticators = [
                "api.example.com": .digest(user: "u", password: "p")
            ]
        }
    }

    private func challenge(_ nonce: String, stale: Bool = false) -> ScriptedResponse {
        ScriptedResponse(
            status: .unauthorized,
            headers: [
                .wwwAuthenticate:
                    "Basic realm=\"r\", Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=SHA-256\(stale ? ", stale=true" : "")"
            ])
    }

    private func sent(_ fixture: AgentFixture, _ name: String) -> [String?] {
        fixture.transport.requests.map { request in
            request.headers[.authorization].flatMap {
                AuthenticationChallenge.parse([$0]).first?[name]
            }
        }
    }

    @Test func nonceIsReusedWithAnIncreasingCount() async throws {
        let fixture = fixture()
        fixture.transport.on(.get, "/x", challenge("n1"), .json("{}"))
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("x?q=1")).send()
        #expect(sent(fixture, "nonce") == [nil, "n1", "n1"])
        #expect(sent(fixture, "nc") == [nil, "00000001", "00000002"])
        #expect(sent(fixture, "uri") == [nil, "/x", "/x?q=1"])
    }

    @Test func staleNonceIsReplaced() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/x", challenge("n1"), .json("{}"), challenge("n2", stale: true), .json("{}"))
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("x")).send()
        #expect(sent(fixture, "nonce") == [nil, "n1", "n1", "n2"])
        #expect(sent(fixture, "nc").last == "00000001")
    }

    @Test func nextNonceOfAuthenticationInfoIsUsed() async throws {
        let fixture = fixture()
        let next = ScriptedResponse(
            status: .ok,
            headers: [
                .contentType: "application/json",
                .authenticationInfo: "qop=auth, nextnonce=\"n2\"",
            ], body: Data("{}".utf8))
        fixture.transport.on(.get, "/x", challenge("n1"), next)
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("x")).send()
        #expect(sent(fixture, "nonce") == [nil, "n1", "n2"])
        #expect(sent(fixture, "nc") == [nil, "00000001", "00000001"])
    }

    @Test func secondChallengeEndsWithUnauthorized() async throws {
        let fixture = fixture()
        fixture.transport.on(.get, "/x", challenge("n1"), challenge("n2"))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.response?.status == .unauthorized)
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func eachRedirectHopIsSignedForItsOwnURI() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/x", challenge("n1"),
            ScriptedResponse(status: .found, headers: [.location: "/y"]))
        fixture.transport.on(.get, "/y", .json("{}"))
        try await fixture.with(Plain("x")).send()
        #expect(sent(fixture, "uri") == [nil, "/x", "/y"])
        #expect(sent(fixture, "nc") == [nil, "00000001", "00000002"])
    }

    @Test func unsupportedSchemeEndsWithUnauthorized() async throws {
        let fixture = fixture()
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(status: .unauthorized, headers: [.wwwAuthenticate: "Negotiate"]))
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("x")).send() }
        #expect(fixture.transport.requests.count == 1)
    }
}
