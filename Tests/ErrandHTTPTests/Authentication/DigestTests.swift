import Foundation
import Testing

@testable import ErrandHTTP

@Suite struct DigestTests {
    private func header(
        _ challenge: String, user: String = "Mufasa", password: String = "Circle of Life",
        method: String = "GET", target: String = "/dir/index.html", body: Data? = Data(),
        clientNonce: String = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    ) throws -> String? {
        let parsed = try #require(
            DigestChallenge.first(in: AuthenticationChallenge.parse([challenge])))
        return DigestResponse(
            challenge: parsed, user: user, password: password, method: method, target: target,
            body: body, clientNonce: clientNonce, count: 1
        ).header()
    }

    private func response(_ header: String?) -> String? {
        header.flatMap { AuthenticationChallenge.parse([$0]).first?["response"] }
    }

    private let rfc7616Challenge = """
        realm="http-auth@example.org", qop="auth, auth-int", \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """

    @Test func exampleOfRFC7616() throws {
        let md5 = try header("Digest \(rfc7616Challenge), algorithm=MD5")
        #expect(response(md5) == "8ca523f5e9506fed4657c9700eebdbec")
        #expect(md5?.contains("nc=00000001, ") == true)
        #expect(md5?.contains("uri=\"/dir/index.html\"") == true)
        #expect(md5?.contains("qop=auth,") == true)
        #expect(md5?.contains("algorithm=MD5") == true)
        let sha = try header("Digest \(rfc7616Challenge), algorithm=SHA-256")
        #expect(
            response(sha) == "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1")
    }

    /// RFC 7616 §3.9.2, with the values of its erratum 4897.
    @Test func exampleWithSHA512AndAHashedUsername() throws {
        let credentials = try header(
            """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", \
            opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true
            """,
            user: "J\u{e4}s\u{f8}n Doe", password: "Secret, or not?", target: "/doe.json",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v")
        #expect(
            response(credentials)
                == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
        let name = "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"
        #expect(credentials?.contains("username=\"\(name)\", ") == true)
        #expect(credentials?.hasSuffix("userhash=true") == true)
        let opaque = "HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"
        #expect(credentials?.contains("opaque=\"\(opaque)\"") == true)
    }

    @Test func exampleOfRFC2617() throws {
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
        let credentials = try header(
            "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"\(nonce)\"",
            password: "Circle Of Life", clientNonce: "0a4f113b")
        #expect(response(credentials) == "6629fae49393a05397450978507c4ef1")
        #expect(credentials?.contains("algorithm") == false)
    }

    @Test func challengeWithoutQop() throws {
        let credentials = try header("Digest realm=\"r\", nonce=\"n\"", user: "u", password: "p")
        let message = MD5.hex("GET:/dir/index.html".utf8)
        #expect(response(credentials) == MD5.hex("\(MD5.hex("u:r:p".utf8)):n:\(message)".utf8))
        #expect(credentials?.contains("nc=") == false && credentials?.contains("qop") == false)
    }

    @Test func sessionAlgorithmsHashTheNonces() throws {
        let credentials = try header(
            "Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=MD5-sess", user: "u",
            password: "p", target: "/", clientNonce: "c")
        let secret = MD5.hex("\(MD5.hex("u:r:p".utf8)):n:c".utf8)
        let expected = MD5.hex("\(secret):n:00000001:c:auth:\(MD5.hex("GET:/".utf8))".utf8)
        #expect(response(credentials) == expected)
    }

    @Test func authIntHashesTheBody() throws {
        let challenge = "Digest realm=\"r\", nonce=\"n\", qop=auth-int"
        let credentials = try header(
            challenge, user: "u", password: "p", method: "POST", target: "/",
            body: Data("abc".utf8), clientNonce: "c")
        let secret = MD5.hex("u:r:p".utf8)
        let message = MD5.hex("POST:/:\(MD5.hex("abc".utf8))".utf8)
        #expect(response(credentials) == MD5.hex("\(secret):n:00000001:c:auth-int:\(message)".utf8))
        #expect(try header(challenge, body: nil) == nil)
    }

    @Test func hashedAndNonASCIIUsernames() throws {
        let hashed = try header(
            "Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=SHA-256, userhash=true",
            user: "Jäsøn Doe")
        let name = DigestAlgorithm.sha256.hash("Jäsøn Doe:r")
        #expect(hashed?.contains("username=\"\(name)\"") == true)
        #expect(hashed?.contains("userhash=true") == true)
        let plain = try header(
            "Digest realm=\"r\", nonce=\"n\", qop=auth, charset=UTF-8", user: "Jäsøn Doe")
        #expect(plain?.contains("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe") == true)
    }

    @Test func quotesAreEscapedAndLineBreaksAreRejected() throws {
        let credentials = try header(
            #"Digest realm="a \"b\" \\c", nonce="n", qop=auth"#, user: "a\"b")
        #expect(credentials?.contains(#"realm="a \"b\" \\c""#) == true)
        #expect(credentials?.contains(#"username="a\"b""#) == true)
        #expect(try header("Digest realm=\"r\", nonce=\"n\"", user: "a\r\nX: y") == nil)
    }

    @Test(
        arguments: [
            (["MD5", "SHA-256"], "SHA-256"), (["MD5-sess", "SHA-512-256"], "SHA-512-256"),
            ([nil, "sha-256-sess"], "sha-256-sess"), (["SHA-256", "MD5"], "SHA-256"),
            (["MD5", "SHA-256", "SHA-512-256"], "SHA-256"),
            (["MD5", "SHA-512-256", "SHA-256"], "SHA-512-256"),
            (["MD5", "SHA3-512"], "MD5"), (["MD5", "MD5-sess"], "MD5"),
            // U+212A becomes a letter in lower case.
            (["SHA-256\u{212A}", "MD5"], "MD5"),
        ] as [([String?], String)])
    func strongestChallengeIsUsed(offered: [String?], expected: String) {
        let fields = offered.map {
            "Digest realm=\"r\", nonce=\"n\"" + ($0.map { ", algorithm=\"\($0)\"" } ?? "")
        }
        for text in [fields, [fields.joined(separator: ", ")]] {
            let challenge = DigestChallenge.first(in: AuthenticationChallenge.parse(text))
            #expect(challenge?.algorithmName == expected)
        }
    }

    @Test func firstSupportedChallengeIsUsed() {
        func chosen(_ fields: String...) -> DigestChallenge? {
            DigestChallenge.first(in: AuthenticationChallenge.parse(fields))
        }
        let sha = "Digest realm=\"r\", nonce=\"s\", algorithm=SHA-256"
        #expect(chosen("Basic realm=\"r\"", sha, "Digest realm=\"r\", nonce=\"m\"")?.nonce == "s")
        #expect(chosen("Digest realm=\"r\", nonce=\"x\", algorithm=SHA3-256", sha)?.nonce == "s")
        #expect(chosen("Digest realm=\"r\", nonce=\"x\", qop=\"auth-conf\"", sha)?.nonce == "s")
        #expect(chosen("Digest realm=\"r\"") == nil)
        #expect(chosen("Digest realm=\"r\", nonce=n, stale=TRUE")?.isStale == true)
    }
}
