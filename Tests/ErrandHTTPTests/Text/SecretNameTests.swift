import Testing

@testable import ErrandHTTP

@Suite struct SecretNameTests {
    private static let words = [
        "key", "code", "sig", "sign", "pin", "otp", "sid", "jwt",
    ]
    private static let fragments = [
        "token", "secret", "passw", "passphrase", "apikey", "api-key", "api_key", "auth", "session",
        "signature", "credential", "csrf",
    ]

    /// The rule, as it is documented: a word, or a fragment anywhere, in any case.
    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return words.contains(name) || fragments.contains { name.contains($0) }
    }

    @Test func namesFollowTheRule() {
        var random = SeededGenerator(seed: 11)
        let pieces =
            Self.words + Self.fragments + [
                "", "x-", "-id", "to", "ken", "tok", "auth", "or", "ß", "é",
            ]
        for _ in 0..<4000 {
            var name = ""
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let piece = pieces[Int.random(in: 0..<pieces.count, using: &random)]
                name += Bool.random(using: &random) ? piece.uppercased() : piece
            }
            // One letter more or less.
            if Bool.random(using: &random) { name = String(name.dropLast()) }
            #expect(SecretName.isSecret(argument: name) == Self.isSecret(name), "\(name)")
        }
    }

    /// The Kelvin sign becomes an ASCII letter in lower case.
    @Test(arguments: ["to\u{212A}en", "\u{212A}ey", "Api\u{212A}ey"])
    func lettersThatBecomeASCIIAreRecognized(name: String) {
        #expect(SecretName.isSecret(argument: name))
    }

    @Test(arguments: [
        ("authorization", true), ("proxy-authorization", true), ("cookie", true),
        ("set-cookie", true), ("www-authenticate", true), ("authentication-info", true),
        ("x-api-key", true), ("accept", false), ("cookies", false), ("", false),
    ])
    func headers(name: String, isSecret: Bool) {
        #expect(SecretName.isSecret(header: name) == isSecret)
    }
}
