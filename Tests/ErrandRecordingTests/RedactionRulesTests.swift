import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandRecording

@Suite(.limited) struct RedactionRulesTests {
    private func body(
        _ text: String, _ type: String? = "application/json", _ rules: RedactionRules = .standard
    ) -> String? {
        rules.redacted(body: Data(text.utf8), contentType: type)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: - Headers

    @Test(arguments: [
        ("Authorization", "Bearer abc", "Bearer REDACTED"), ("Authorization", "abc", "REDACTED"),
        ("Proxy-Authorization", "Basic eHk=", "Basic REDACTED"),
        ("Cookie", "sid=1; theme=dark", "sid=REDACTED; theme=REDACTED"),
        ("Set-Cookie", "sid=1; Path=/; Secure", "sid=REDACTED; Path=/; Secure"),
        ("X-Api-Key", "abc", "REDACTED"), ("Accept", "text/html", "text/html"),
        (
            "Location", "https://u:p@a.example/x?token=1&page=2",
            "https://a.example/x?token=REDACTED&page=2"
        ),
        ("Link", "</x?token=1>; rel=\"next\"", "</x?token=REDACTED>; rel=\"next\""),
    ])
    func headerIsRedacted(name: String, value: String, expected: String) {
        #expect(RedactionRules.standard.header(name, value) == expected)
        #expect(RedactionRules.none.header(name, value) == value)
    }

    /// Scalars that join an ASCII character before them to one Swift character.
    private static let joining = ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{E0061}"]

    @Test(arguments: joining)
    func separatorsBeforeCombiningMarksSeparate(mark: String) {
        let rules = RedactionRules.standard
        #expect(rules.header("Cookie", "a=1;\(mark)b=2") == "a=REDACTED; \(mark)b=REDACTED")
        #expect(rules.header("Cookie", "sid=\(mark)1") == "sid=REDACTED")
        #expect(rules.header("Set-Cookie", "sid=\(mark)1;\(mark)x") == "sid=REDACTED;\(mark)x")
        #expect(rules.header("Authorization", "Bearer \(mark)abc") == "Bearer REDACTED")
        #expect(body("token=\(mark)b", "application/x-www-form-urlencoded") == "token=REDACTED")
        #expect(
            body("a=1&\(mark)&token=b", "application/x-www-form-urlencoded")?.contains("=b")
                == false)
        #expect(
            body("{\"token\":\"b\"}", "application/json;\(mark)x") == "{\"token\":\"REDACTED\"}")
        #expect(rules.header("Link", "<\(mark)/x?token=1>\(mark)").contains("token=1") == false)
        let plain = rules.header("Link", "<\(mark)/x>; rel=a")
        #expect(plain.unicodeScalars.count { $0 == mark.unicodeScalars.first } == 0)
    }

    @Test func charactersEquivalentToSeparatorsAreText() {
        // U+037E is canonically equivalent to a semicolon.
        #expect(RedactionRules.standard.header("Cookie", "a=1\u{37E}b=2") == "a=REDACTED")
    }

    @Test func everyTargetOfALinkIsRedacted() {
        let rules = RedactionRules.standard
        #expect(
            rules.header("Link", "</a?token=1>; rel=\"x\", </b?q=2>, <>")
                == "</a?token=REDACTED>; rel=\"x\", </b?q=2>, <>")
        #expect(rules.header("Link", "no target") == "no target")
        #expect(rules.header("Link", "</a>, </b?token=1") == "</a>, </b?token=REDACTED")
    }

    @Test(.timeLimit(.minutes(1))) func linkWithoutClosingBracketsTakesLinearTime() {
        // A regular expression needed minutes for this field.
        let field = String(repeating: "<", count: 1_000_000)
        // The brackets after the first are a relative URL.
        #expect(RedactionRules.standard.header("Link", field).hasPrefix("<%3C%3C"))
    }

    @Test func furtherAndVisibleNamesChangeTheStandardRules() {
        var rules = RedactionRules.standard
        rules.headers = ["X-Tenant"]
        rules.names = ["Email"]
        rules.visibleNames = ["Code"]
        #expect(rules.header("x-tenant", "acme") == "REDACTED")
        #expect(
            rules.url("https://a.example/?email=x&code=4")
                == "https://a.example/?email=REDACTED&code=4")
        #expect(
            RedactionRules.standard.url("https://a.example/?code=4")
                == "https://a.example/?code=REDACTED")
        #expect(
            body(#"{"EMAIL":"x","code":4}"#, "application/json", rules)
                == #"{"EMAIL":"REDACTED","code":4}"#)
    }

    @Test func encodedNamesOfArgumentsAreRecognized() {
        let url = RedactionRules.standard.url("https://a.example/?access%5Ftoken=1&q=a+b&flag")
        #expect(url == "https://a.example/?access%5Ftoken=REDACTED&q=a+b&flag")
    }

    // MARK: - Bodies

    @Test func membersOfJSONAreRedactedAtAnyDepth() {
        let text =
            #"{ "user": {"name": "a", "password": "b"}, "list": [{"token": 1}, 2], "session": null }"#
        #expect(
            body(text)
                == #"{"user":{"name":"a","password":"REDACTED"},"list":[{"token":"REDACTED"},2],"session":null}"#
        )
    }

    @Test func documentWithoutSecretsKeepsItsBytes() {
        let text = "{ \"a\" : 1.50,\n \"a\" : [ ] }"
        #expect(body(text) == text)
        #expect(body(text, "application/problem+json; charset=utf-8") == text)
    }

    @Test func pathsSelectValues() throws {
        var rules = RedactionRules.standard
        try rules.redact(path: "$.items[*].mail")
        try rules.redact(path: "$['a.b'].*")
        #expect(
            body(
                #"{"items":[{"mail":"x"},{"mail":["y"]}],"mail":"z","a.b":{"c":1,"d":2}}"#,
                "application/json", rules)
                == #"{"items":[{"mail":"REDACTED"},{"mail":"REDACTED"}],"mail":"z","a.b":{"c":"REDACTED","d":"REDACTED"}}"#
        )
    }

    @Test(arguments: ["", "items", "$items", "$.", "$..a", "$[0]", "$['a", "$.a["])
    func invalidPathIsRefused(path: String) {
        var rules = RedactionRules.standard
        let error = #expect(throws: RequestError.self) { try rules.redact(path: path) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("“\(path)”") == true)
    }

    @Test func malformedJSONIsWithheldUnlessNothingIsRedacted() {
        #expect(body(#"{"password":"b""#) == nil)
        #expect(body(#"{"password":"b""#, "application/json", .none) == #"{"password":"b""#)
        #expect(body("", "application/json") == "")
    }

    @Test func formsAndLinesAreRedacted() {
        #expect(
            body("user=a&password=b+c", "application/x-www-form-urlencoded")
                == "user=a&password=REDACTED")
        #expect(
            body(
                "event: a\ndata: {\"token\":1}\ndata:{\"x\":2}\ndata: text\n\n", "text/event-stream"
            )
                == "event: a\ndata: {\"token\":\"REDACTED\"}\ndata:{\"x\":2}\ndata: text\n\n")
        #expect(
            body("{\"token\":1}\n{\"token\":", "application/x-ndjson")
                == "{\"token\":\"REDACTED\"}\nREDACTED")
        #expect(
            body("\u{1E}{\"token\":1}\n", "application/json-seq")
                == "\u{1E}{\"token\":\"REDACTED\"}\n")
        #expect(body("password: b", "text/plain") == "password: b")
    }

    @Test func closureChangesOtherFormats() {
        var rules = RedactionRules.standard
        rules.body = { bytes, type in type == "text/xml" ? nil : bytes + Data("!".utf8) }
        #expect(body("<a/>", "text/xml", rules) == nil)
        #expect(body(#"{"token":1}"#, "application/json", rules) == #"{"token":"REDACTED"}!"#)
    }

    @Test func substitutionsTakePrecedenceOverSecrets() {
        var rules = RedactionRules.standard
        rules.substitutions = [("s3cret", "{{token}}")]
        #expect(rules.header("Authorization", "Bearer s3cret") == "Bearer {{token}}")
        #expect(rules.header("Cookie", "sid=s3cret; b=1") == "sid={{token}}; b=REDACTED")
        #expect(
            rules.url("https://a.example/?token=s3cret")
                == "https://a.example/?token=%7B%7Btoken%7D%7D")
        #expect(
            body(#"{"token":"s3cret","password":"s3cret!"}"#, "application/json", rules)
                == #"{"token":"{{token}}","password":"REDACTED"}"#)
    }
}
