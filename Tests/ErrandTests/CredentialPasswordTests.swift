import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// User and password in whichever way a server asks for.
@Suite(.timeLimit(.minutes(5))) struct CredentialPasswordTests {
    private func world(
        base: String = "https://api.example.com/", overHTTP: Bool = false, password: String = "p"
    ) -> World {
        World {
            $0.baseURL = base
            $0.authenticators = [
                HostAuthenticator(
                    "api.example.com",
                    PasswordAuthenticator(user: "u", password: password, basicOverHTTP: overHTTP))
            ]
        }
    }

    private func refusing(_ world: World, with challenges: String...) {
        world.transport.answer { request in
            if request.headers[.authorization] != nil { return .json("{}") }
            var headers = HTTPFields()
            for text in challenges {
                headers.append(HTTPField(name: .wwwAuthenticate, value: text))
            }
            return ScriptedAnswer(status: .unauthorized, headers: headers)
        }
    }

    private func schemes(_ world: World) -> [String] {
        world.transport.requests.map {
            $0.headers[.authorization]?.split(separator: " ").first.map(String.init) ?? "-"
        }
    }

    @Test func aBasicChallengeIsAnsweredAndRemembered() async throws {
        let world = world()
        refusing(world, with: "Basic realm=\"r\", charset=\"UTF-8\"")
        try await world.with(Plain("x")).send()
        try await world.with(Plain("y")).send()
        #expect(schemes(world) == ["-", "Basic", "Basic"])
        #expect(world.transport.requests.last?.headers[.authorization] == "Basic dTpw")
    }

    @Test(arguments: [
        ["Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\", qop=\"auth\""],
        ["Negotiate", "Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""],
    ])
    func digestIsTakenWhereItIsOffered(challenges: [String]) async throws {
        let world = world()
        refusing(world, with: challenges.joined(separator: ", "))
        try await world.with(Plain("x")).send()
        #expect(schemes(world) == ["-", "Digest"])
    }

    @Test func basicOfADigestThatNobodyKnowsIsTheRest() async throws {
        let world = world()
        refusing(
            world, with: "Digest realm=\"r\", nonce=\"n\", algorithm=FUTURE", "Basic realm=\"r\"")
        try await world.with(Plain("x")).send()
        #expect(schemes(world) == ["-", "Basic"])
    }

    @Test(arguments: [false, true]) func withoutTLSBasicIsShownOnlyWhereAllowed(
        isAllowed: Bool
    ) async throws {
        let world = world(base: "http://api.example.com/", overHTTP: isAllowed)
        refusing(world, with: "Basic realm=\"r\"")
        let request = InlineRequest("x") { $0.acceptableStatusCodes = 200..<500 }
        let response = try await world.with(request).send()
        #expect(response.status == (isAllowed ? .ok : .unauthorized))
        #expect(schemes(world) == (isAllowed ? ["-", "Basic"] : ["-"]))
    }

    @Test func refusedCredentialsEndWithThe401() async throws {
        let world = world()
        world.transport.answer { _ in
            ScriptedAnswer(status: .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"r\""])
        }
        for _ in 0..<2 {
            let error = await #expect(throws: RequestError.self) {
                try await world.with(Plain("x")).send()
            }
            #expect(error?.status == .unauthorized)
        }
        #expect(world.transport.requests.count <= 4)
    }

    @Test func originsAreAskedByThemselves() async throws {
        let world = world()
        refusing(world, with: "Basic realm=\"r\"")
        try await world.with(Plain("x")).send()
        try await world.with(Plain("https://api.example.com:8443/x")).send()
        #expect(schemes(world) == ["-", "Basic", "-", "Basic"])
    }

    @Test func nothingOfItIsPrinted() {
        let authenticator = PasswordAuthenticator(user: "somebody", password: "secret")
        var dumped = ""
        dump(authenticator, to: &dumped)
        for text in ["\(authenticator)", String(reflecting: authenticator), dumped] {
            #expect(!text.contains("secret") && !text.contains("somebody"))
        }
    }
}
