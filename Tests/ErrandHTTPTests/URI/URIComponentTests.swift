import TestSupport
import Testing

@testable import ErrandHTTP

/// Setting a component never changes the meaning of another one.
@Suite struct URIComponentTests {
    private func url() throws -> HTTPURL {
        try HTTPURL(parsing: "https://u:p@good.example:8443/a?b#c")
    }

    @Test(arguments: [
        ("@127.0.0.2:1/x", "/@127.0.0.2:1/x"), (".evil.example/x", "/.evil.example/x"),
        (":1/x", "/:1/x"), ("x", "/x"), ("/x?y#z", "/x%3Fy%23z"), ("/a b", "/a%20b"),
        ("/a%2Fb", "/a%2Fb"), ("/100%", "/100%25"), ("\\@evil/", "/%5C@evil/"), ("", ""),
        ("/a\r\nX: y", "/a%0D%0AX:%20y"), ("//evil.example/x", "//evil.example/x"),
        ("/ü", "/%C3%BC"),
    ])
    func pathStaysAPath(text: String, path: String) throws {
        var url = try url()
        url.path = text
        #expect(url.path == path)
        let again = try HTTPURL(parsing: url.string)
        #expect(again == url)
        #expect(again.host == "good.example" && again.port == 8443)
        #expect(again.query == "b" && again.fragment == "c")
    }

    @Test(arguments: [
        "a@evil.example", "evil.example:1", "evil.example/x", "evil.example?x", "evil.example#x",
        "evil.example\\x", "evil example", "[::1", "[::1]x", "::1", "evil\r\n", "a\0b", "256.1.1.1",
        "[fe80::1%25eth0]", "u:p@h",
    ])
    func textThatIsNotAHostMakesTheURLInvalid(text: String) throws {
        var url = try url()
        url.host = text
        #expect(!url.isValid && !url.isAbsoluteHTTP)
        #expect(url.host == nil)
        #expect(url.problem?.contains("host") == true)
        #expect(url.string == "https://u:p@[invalid]:8443/a?b#c")
        #expect(throws: RequestError.self) { try HTTPURL(parsing: url.string) }
        url.host = "other.example"
        #expect(url.isValid && url.problem == nil)
        #expect(url.string == "https://u:p@other.example:8443/a?b#c")
    }

    @Test(arguments: ["ht tp", "1a", "", "https:", "javascript://x", "http:\r\n"])
    func textThatIsNotASchemeMakesTheURLInvalid(text: String) throws {
        var url = try url()
        url.scheme = text
        #expect(!url.isValid && url.scheme == nil)
        #expect(url.problem?.contains("scheme") == true)
        #expect(try !HTTPURL(parsing: url.string).isAbsoluteHTTP)
        url.scheme = "HTTP"
        #expect(url.isValid && url.scheme == "http")
    }

    @Test(arguments: [0, -1, 65_536, Int.max, Int.min])
    func numberThatIsNotAPortMakesTheURLInvalid(number: Int) throws {
        var url = try url()
        url.port = number
        #expect(!url.isValid && url.port == nil)
        #expect(url.problem?.contains("port") == true)
        #expect(throws: RequestError.self) { try HTTPURL(parsing: url.string) }
        url.port = nil
        #expect(url.isValid && url.effectivePort == 443)
    }

    @Test func hostsAreSetInCanonicalForm() throws {
        var url = try url()
        for (text, host) in [
            ("EXAMPLE.com", "example.com"), ("bücher.example", "xn--bcher-kva.example"),
            ("[0:0::1]", "[::1]"), ("0x7f.1", "127.0.0.1"), ("example.com.", "example.com."),
        ] {
            url.host = text
            #expect(url.host == host && url.isValid)
        }
    }

    @Test func otherComponentsArePercentEncoded() throws {
        var url = try url()
        url.userInfo = "a@b/c"
        url.query = "x=#y z"
        url.fragment = "ü#"
        #expect(url.string == "https://a%40b%2Fc@good.example:8443/a?x=%23y%20z#%C3%BC%23")
        url.query = "a%20b"
        #expect(url.query == "a%20b")
        url.userInfo = nil
        url.query = nil
        url.fragment = nil
        #expect(url.string == "https://good.example:8443/a")
    }

    @Test func pathBeforeAHostGetsASlash() throws {
        var url = try HTTPURL(parsing: "x/y")
        url.scheme = "http"
        url.host = "h"
        #expect(url.string == "http://h/x/y")
    }

    @Test func pathWithoutAHostIsNotParsedAsAHostOrAScheme() throws {
        var url = try HTTPURL(parsing: "https://h//evil.example/x")
        url.host = nil
        #expect(url.string == "https:/.//evil.example/x")
        url.scheme = nil
        #expect(url.string == "/.//evil.example/x")
        #expect(try HTTPURL(parsing: url.string).host == nil)
        url.path = "a:b"
        #expect(url.string == "./a:b")
        #expect(try HTTPURL(parsing: url.string).scheme == nil)
        let base = try HTTPURL(parsing: "https://h/")
        #expect(try HTTPURL.resolve("/.//evil.example/x", against: base).host == "h")
    }

    @Test func memberwiseInitializerAppliesTheSameRules() {
        #expect(HTTPURL(scheme: "http", host: "h", path: "@evil/x").string == "http://h/@evil/x")
        #expect(!HTTPURL(scheme: "http", host: "a@b", path: "/").isValid)
        #expect(!HTTPURL(scheme: "http", host: "a", port: 70_000, path: "/").isValid)
    }

    @Test(arguments: [
        ("http://h/a", "http://H:80/b?c", true), ("https://h", "https://u@h:443/", true),
        ("http://h/", "https://h/", false), ("http://h/", "http://h:8080/", false),
        ("https://h:1/", "https://h:2/", false), ("https://h/", "https://i.h/", false),
    ])
    func originsHaveSchemeHostAndPort(one: String, other: String, isSame: Bool) throws {
        let (one, other) = (try HTTPURL(parsing: one), try HTTPURL(parsing: other))
        #expect(one.hasOrigin(of: other) == isSame && other.hasOrigin(of: one) == isSame)
        #expect((one.origin == other.origin) == isSame)
    }

    @Test func invalidURLsDoNotResolve() throws {
        let base = try HTTPURL(parsing: "https://h/a")
        var invalid = try HTTPURL(parsing: "https://i/b")
        invalid.host = "a@b"
        #expect(!invalid.resolved(against: base).isValid)
        #expect(try !HTTPURL(parsing: "x").resolved(against: invalid).isValid)
    }

    /// No sequence of changes makes text that reaches another host than ``HTTPURL/host``.
    @Test(arguments: 0..<200)
    func hostIsAlwaysTheHostOfTheText(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "", "/", "//", "@", ":", "?", "#", "\\", ".", "..", "a", "evil.example", "[", "]", "%",
            "%2f", " ", "\n", "ü", "1", "0x7f",
        ]
        func text() -> String {
            (0..<Int.random(in: 0...4, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        }
        var url = try url()
        for _ in 0..<20 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: url.host = text()
            case 1: url.userInfo = text()
            case 2: url.query = text()
            case 3: url.fragment = text()
            case 4: url.port = Int.random(in: -1...70_000, using: &generator)
            default: url.path = text()
            }
            guard url.isAbsoluteHTTP else { continue }
            #expect(try HTTPURL(parsing: url.string) == url, "seed \(seed): \(url)")
        }
    }
}
