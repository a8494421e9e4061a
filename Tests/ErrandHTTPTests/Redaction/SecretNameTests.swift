import Foundation
import TestSupport
import Testing

@testable import ErrandHTTP

/// Names whose values are secret: by a word, by a part of a word, or by the whole name.
@Suite struct SecretNameTests {
    private static let secret = [
        // Headers of gateways, and of standards.
        "Authorization", "proxy-authorization", "Cookie", "set-cookie", "www-authenticate",
        "Authentication-Info", "x-api-key", "Api-Token", "Ocp-Apim-Subscription-Key",
        "X-Functions-Key", "UserPin", "X-Master-Key", "DPoP", "X-Jwt-Assertion",
        "X-Goog-Iap-Jwt-Assertion",
        "X-Amzn-Oidc-Data", "X-Otp", "X-Pin", "X-Amz-Security-Token", "Signature",
        "Signature-Input", "X-Hub-Signature-256", "X-CSRF-Token", "X-XSRF-TOKEN", "X-Auth",
        "X-Session-Id", "X-Ticket", "X-Pass", "X-Pwd", "X-Hmac", "X-Sid", "apikey", "X-Sig",
        // Arguments.
        "private_key", "privateKey", "privatekey", "Key-Pair-Id", "AWSAccessKeyId", "PHPSESSID",
        "JSESSIONID", "connect.sid", "pwd", "pass", "user_pass", "userPass", "assertion",
        "client_assertion", "SAMLResponse", "samlrequest", "ticket", "hmac", "access_token",
        "accessToken", "ACCESS_TOKEN", "id_token_hint", "refresh_token", "key", "KEY", "code",
        "sig", "sign", "pin", "PIN2", "otp1", "sid", "jwt", "JWT", "code_verifier", "device_code",
        "verificationCode", "x-amz-signature", "X-Goog-Credential", "client_secret", "passphrase",
        "password1", "oauth_nonce", "oauth2", "authkey", "apiKEY", "API-KEY-2", "s3Key", "keyID",
        "author_token", "coauthor_auth", "cache_key_pin",
    ]
    private static let harmless = [
        "", "Accept", "cookies", "monkey", "keyboard", "Keyword", "hockey", "keys", "spin",
        "pinned", "option", "bypass", "passenger", "compass", "passport", "outside", "inside",
        "sidebar", "design", "signal", "assigned", "signed", "sign_in_count", "signUp",
        "status_code", "countryCode", "zip-code", "encode", "tickets", "assertions", "Author",
        "authors", "authority", "X-Author", ":authority", "secretary", "Cache-Key",
        "X-Cache-Key", "Idempotence-Key", "Object-Key", "Idempotency-Key", "X-Idempotency-Key",
        "Sec-WebSocket-Key",
        "Sec-WebSocket-Accept", "Surrogate-Key", "Public-Key-Pins", "primary_key", "partitionKey",
        "x-amz-server-side-encryption-aws-kms-key-id", "Content-Type", "ETag", "X-Request-Id",
        "Range", "Last-Modified", "Host", "User-Agent", "Digest", "Content-Digest", "æøå",
    ]

    /// The scan agrees with a search for each text, and decides about names of ASCII letters only.
    @Test func namesWithoutAnyTextAreExcluded() {
        let texts = ["key", "kex", "ey-kit", "session", "ssh", "set-cookie2"]
        let scan = NameScan(texts.map { Array($0.utf8) })
        let runs = ["key", "kex", "kit", "session", "ssh", "cookie"]
        func excludes(_ name: String) -> Bool {
            Array(name.utf8).withUnsafeBufferPointer { scan.excludes($0) }
        }
        var random = SeededGenerator(seed: 7)
        let letters = Array("kexysinoht-K2")
        for _ in 0..<20_000 {
            let name = String((0..<8).map { _ in letters[Int(random.next() % 13)] })
            let isFound = runs.contains { name.lowercased().contains($0) }
            #expect(excludes(name) == !isFound, "\(name)")
        }
        #expect(excludes("") && excludes("sessio_n") && !excludes("x-SESSION"))
        #expect(!excludes("æ") && !excludes("\u{212A}ey"))
    }

    @Test(arguments: secret) func secretNames(name: String) {
        #expect(SecretName.isSecret(argument: name))
        #expect(SecretName.isSecret(header: name))
    }

    @Test(arguments: harmless) func harmlessNames(name: String) {
        #expect(!SecretName.isSecret(argument: name))
        #expect(!SecretName.isSecret(header: name))
    }

    /// A capital letter begins a word: `ClientKey` contains `Key`.
    @Test func wordsEndWhereTheCaseChanges() {
        for name in ["X-ClientKey", "X-AppSid", "AccountKey"] {
            #expect(SecretName.isSecret(header: name))
        }
    }

    /// Header fields have no letter case.
    @Test(arguments: secret.filter { $0.contains("-") }) func secretFieldsInLowerCase(name: String)
    {
        #expect(SecretName.isSecret(header: name.lowercased()))
    }

    /// A secret word remains one with any separator, in any case, and within other words.
    @Test func wordsAreFoundInNames() {
        let words = ["key", "pin", "otp", "sid", "jwt", "sig", "pwd", "pass", "dpop", "ticket"]
        for word in words {
            for separator in ["-", "_", ".", " ", "[", "1", "é"] {
                for name in [
                    "x\(separator)\(word)", "\(word)\(separator)x",
                    "X\(separator)\(word)\(separator)y",
                ] {
                    #expect(SecretName.isSecret(argument: name), "\(name)")
                    #expect(SecretName.isSecret(argument: name.uppercased()), "\(name)")
                }
            }
            #expect(SecretName.isSecret(argument: "my" + word.capitalized + "Of"), "\(word)")
            #expect(SecretName.isSecret(argument: "MY" + word.capitalized + "Of"), "\(word)")
            #expect(!SecretName.isSecret(argument: "q\(word)q"), "\(word)")
        }
    }

    /// The Kelvin sign becomes an ASCII letter in lower case.
    @Test(arguments: ["to\u{212A}en", "\u{212A}ey", "Api\u{212A}ey"])
    func lettersThatBecomeASCIIAreRecognized(name: String) {
        #expect(SecretName.isSecret(argument: name))
    }

    @Test func authorsExtendTheList() {
        var names = SecretNames(added: ["X-Tenant", "Idempotency-Key"], excepted: ["Ticket"])
        #expect(names.isSecret(header: "x-tenant") && names.isSecret(argument: "X-TENANT"))
        #expect(names.isSecret(header: "idempotency-key"))
        #expect(!names.isSecret(argument: "ticket") && names.isSecret(argument: "my_ticket"))
        names.excepted = ["authorization", "Cookie", "Set-Cookie"]
        for name in names.excepted { #expect(names.isSecret(header: name.lowercased())) }
        names.added.insert("ticket")
        names.excepted.insert("TICKET")
        #expect(names.isSecret(argument: "Ticket"))
    }

    @Test(arguments: [
        ("dpop", "", true), ("signature", "sig1=:", true), ("x-hub-signature-256", "", true),
        ("authorization", "AWS4-HMAC-SHA256", true), ("authorization", "OAuth ya29", false),
        ("authorization", "OAuth realm=\"a\", oauth_signature=\"b\"", true),
        ("accept-signature", "sig1=(\"@status\")", false),
        ("authorization", "DPoP", true), ("authorization", "Bearer", false),
        ("authorization", "Negotiate", true), ("authorization", "Basic", false),
        ("authorization", "Token", false), ("x-api-key", "", false), ("cookie", "", false),
    ])
    func proofs(name: String, value: String, isProof: Bool) {
        #expect(SecretName.isProof(header: name, value: value) == isProof)
    }

    /// A request of an agent with names of its own shares the other options with all requests.
    @Test func namesAreNotPartOfTheOptions() {
        var options = TransportOptions()
        options.secretNames = SecretNames(added: ["X-Tenant"])
        #expect(options.hasDefaults && options != TransportOptions())
        #expect(options.secretNames.isSecret(header: "x-tenant"))
        options.secretNames = .standard
        #expect(options == TransportOptions())
    }
}
