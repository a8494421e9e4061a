import Errand
import ErrandTesting
import HTTPTypes
import TestSupport
import Testing

/// `StandardAuthenticator` authenticates with the scheme that the server asks for.
@Suite(.limited) struct PasswordAuthenticatorTests {
    private func fixture(
        base: String = "https://api.example.com/", overHTTP: Bool = false, password: String = "p"
    ) -> AgentFixture {
        AgentFixture {
            $0.baseURL = EndpointURL(raw: base)
            $0.authenticators = [
                "api.example.com": .password(user: "u", password: password, basicOverHTTP: overHTTP)
            ]
        }
    }

    private func challenge(_ fixture: AgentFixture, with challenges: String...) {
        fixture.transport.respond { request in
            if request.headers[.authorization] != nil { return .json("{}") }
            var headers = HTTPFields()
            for text in challenges {
                headers.append(HTTPField(name: .wwwAuthenticate, value: text))
            }
            return ScriptedResponse(status: .unauthorized, headers: headers)
        }
    }

    private func schemes(_ fixture: AgentFixture) -> [String] {
        fixture.transport.requests.map {
            $0.headers[.authorization]?.split(separator: " ").first.map(String.init) ?? "-"
        }
    }

    @Test func basicChallengeIsMetAndRemembered() async throws {
        let fixture = fixture()
        challenge(fixture, with: "Basic realm=\"r\", charset=\"UTF-8\"")
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("y")).send()
        #expect(schemes(fixture) == ["-", "Basic", "Basic"])
        #expect(fixture.transport.requests.last?.headers[.authorization] == "Basic dTpw")
    }

    @Test(arguments: [
        ["Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\", qop=\"auth\""],
        ["Negotiate", "Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""],
    ])
    func digestIsPreferredOverBasic(challenges: [String]) async throws {
        let fixture = fixture()
        challenge(fixture, with: challenges.joined(separator: ", "))
        try await fixture.with(Plain("x")).send()
        #expect(schemes(fixture) == ["-", "Digest"])
    }

    @Test func basicIsUsedWhenTheDigestAlgorithmIsUnknown() async throws {
        let fixture = fixture()
        challenge(
            fixture, with: "Digest realm=\"r\", nonce=\"n\", algorithm=FUTURE", "Basic realm=\"r\"")
        try await fixture.with(Plain("x")).send()
        #expect(schemes(fixture) == ["-", "Basic"])
    }

    @Test(arguments: [false, true]) func basicOverHTTPIsSentOnlyWhenAllowed(
        isAllowed: Bool
    ) async throws {
        let fixture = fixture(base: "http://api.example.com/", overHTTP: isAllowed)
        challenge(fixture, with: "Basic realm=\"r\"")
        let request = InlineRequest("x") { $0.acceptance.statuses = StatusCodes(200..<500) }
        let response = try await fixture.with(request).send()
        #expect(response.status == (isAllowed ? .ok : .unauthorized))
        #expect(schemes(fixture) == (isAllowed ? ["-", "Basic"] : ["-"]))
    }

    @Test func rejectedCredentialsEndWithUnauthorized() async throws {
        let fixture = fixture()
        fixture.transport.respond { _ in
            ScriptedResponse(
                status: .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"r\""])
        }
        for _ in 0..<2 {
            let error = await #expect(throws: RequestError.self) {
                try await fixture.with(Plain("x")).send()
            }
            #expect(error?.status == .unauthorized)
        }
        #expect(fixture.transport.requests.count <= 4)
    }

    @Test func eachOriginHasItsOwnChallenge() async throws {
        let fixture = fixture()
        challenge(fixture, with: "Basic realm=\"r\"")
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("https://api.example.com:8443/x")).send()
        #expect(schemes(fixture) == ["-", "Basic", "-", "Basic"])
    }

    @Test func descriptionContainsNoCredentials() {
        let authenticator = StandardAuthenticator.password(user: "username", password: "secret")
        var dumped = ""
        dump(authenticator, to: &dumped)
        for text in ["\(authenticator)", String(reflecting: authenticator), dumped] {
            #expect(!text.contains("secret") && !text.contains("username"))
        }
    }
}
