import Testing

@testable import ErrandHTTP

@Suite struct AuthenticationChallengeTests {
    /// The parsed challenges in a short notation: `Basic(realm=x)`, `Negotiate[abc]()`.
    private func parse(_ fields: String...) -> [String] {
        AuthenticationChallenge.parse(fields).map { challenge in
            let token = challenge.token.map { "[\($0)]" } ?? ""
            let parameters = challenge.parameters.map { "\($0.name)=\($0.value)" }
            return challenge.scheme + token + "(" + parameters.joined(separator: "|") + ")"
        }
    }

    @Test func singleChallenge() {
        #expect(parse("Basic realm=\"x\"") == ["Basic(realm=x)"])
        #expect(parse("Basic") == ["Basic()"])
        #expect(parse("Basic realm=x") == ["Basic(realm=x)"])
        #expect(parse("Negotiate YWJj/+==") == ["Negotiate[YWJj/+==]()"])
        #expect(
            parse("  Basic \t realm = \"x\" ,  charset=\"UTF-8\" ")
                == ["Basic(realm=x|charset=UTF-8)"])
    }

    @Test func exampleOfRFC9110() {
        let field =
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#
        #expect(
            parse(field)
                == ["Basic(realm=simple)", "Newauth(realm=apps|type=1|title=Login to \"apps\")"])
    }

    @Test func severalChallengesInOneAndInSeveralFields() {
        #expect(
            parse("Negotiate, NTLM abc=, Basic realm=\"a, b\"", "Digest realm=d, nonce=\"n\"")
                == ["Negotiate()", "NTLM[abc=]()", "Basic(realm=a, b)", "Digest(realm=d|nonce=n)"])
        #expect(parse(", ,Basic,,Bearer scope=\"x y\",") == ["Basic()", "Bearer(scope=x y)"])
    }

    @Test func invalidChallengesAreSkipped() {
        #expect(parse("") == [])
        #expect(parse("realm=\"x\"") == [])
        #expect(parse("=x, Basic realm=\"r\"") == ["Basic(realm=r)"])
        #expect(parse("Basic realm=\"unterminated") == ["Basic()"])
        #expect(parse("Basic realm=\"x\\") == ["Basic()"])
        #expect(parse("Digest realm=, nonce=\"n\"") == ["Digest[realm=](nonce=n)"])
        #expect(parse("@\"a, Basic\", Bearer realm=\"x\"") == ["Bearer(realm=x)"])
        #expect(parse("Basic realm=\"x\" junk, a=b") == ["Basic(realm=x|a=b)"])
    }

    @Test func schemeAndParameterNamesIgnoreCase() {
        let challenge = AuthenticationChallenge.parse(["dIGEST Realm=\"X\", realm=\"second\""])
            .first
        #expect(challenge?.isOf("Digest") == true)
        #expect(challenge?["realm"] == "X")
    }

    @Test func parametersWithoutAScheme() {
        let parameters = AuthenticationChallenge.parameters(
            of: "qop=auth, nextnonce=\"n 2\", nc=00000001")
        #expect(parameters.map(\.name) == ["qop", "nextnonce", "nc"])
        #expect(parameters.map(\.value) == ["auth", "n 2", "00000001"])
    }
}
