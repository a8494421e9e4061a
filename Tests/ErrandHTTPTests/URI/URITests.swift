import Testing

@testable import ErrandHTTP

struct URITests {
    @Test func componentsRoundTrip() throws {
        let text = "https://user:p%40ss@Example.COM:8443/a/b%2Fc;d=1?x=1&y=/?#frag?/"
        let uri = try HTTPURL(parsing: text)
        #expect(uri.scheme == "https")
        #expect(uri.userInfo == "user:p%40ss")
        #expect(uri.host == "example.com")
        #expect(uri.port == 8443)
        #expect(uri.path == "/a/b%2Fc;d=1")
        #expect(uri.query == "x=1&y=/?")
        #expect(uri.fragment == "frag?/")
        #expect(uri.string == "https://user:p%40ss@example.com:8443/a/b%2Fc;d=1?x=1&y=/?#frag?/")
    }

    @Test(arguments: [
        "https://example.com:8443/a/b%2Fc;d=1?x=1&y=/?", "http://h/", "http://h", "http://h?q",
        "https://user:p%40ss@example.com/?x=1#frag", "http://[2001:db8::1]:8080/x", "//h/x", "/x?q",
        "mailto:a@b", "",
    ])
    func textOfAURLIsRecognized(text: String) throws {
        let url = try HTTPURL(parsing: text)
        #expect(url.hasText(url.string))
        for offset in 0..<text.utf8.count {
            var bytes = Array(text.utf8)
            bytes[offset] ^= 1
            #expect(!url.hasText(String(decoding: bytes, as: UTF8.self)))
            #expect(!url.hasText(String(decoding: text.utf8.prefix(offset), as: UTF8.self)))
        }
        #expect(!url.hasText(text + "a"))
    }

    @Test func requestTextHasNeitherUserNorFragment() throws {
        let url = try HTTPURL(parsing: "https://user:p@example.com:1/a?x=1#frag")
        #expect(url.requestText == "https://example.com:1/a?x=1")
    }

    @Test(arguments: [
        ("HTTP://h", "http://h"), ("http://h/", "http://h/"), ("http://h:/x", "http://h/x"),
        ("http://h:80/x", "http://h:80/x"), (" http://h/a ", "http://h/a"),
        ("http://h/a b", "http://h/a%20b"), ("http://h/a%20b", "http://h/a%20b"),
        ("http://h/100%", "http://h/100%25"), ("http://h/%zz%4", "http://h/%25zz%254"),
        ("http://h/ü?ö=ä#ß", "http://h/%C3%BC?%C3%B6=%C3%A4#%C3%9F"),
        ("http://h/a[]?b[]=<>\"{}|\\^`", "http://h/a%5B%5D?b%5B%5D=%3C%3E%22%7B%7D%7C%5C%5E%60"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://127.0.0.1/", "http://127.0.0.1/"), ("http://a@b@h/", "http://a%40b@h/"),
        ("//h/x", "//h/x"), ("/x?", "/x?"), ("", ""), ("a/b:c", "a/b:c"), ("?q", "?q"),
        ("#f", "#f"), ("mailto:a@b", "mailto:a@b"), ("1a:b", "1a:b"),
    ])
    func normalizedText(text: String, kept: String) throws {
        #expect(try HTTPURL(parsing: text).string == kept)
    }

    @Test(arguments: [
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://BÜCHER.example/", "xn--bcher-kva.example"),
        ("http://b%C3%BCcher.example/", "xn--bcher-kva.example"),
        ("http://bu\u{308}cher.example/", "xn--bcher-kva.example"),
        ("http://straße.de/", "xn--strae-oqa.de"),
        ("http://例え.テスト/", "xn--r8jz45g.xn--zckzah"),
        ("http://例え。テスト/", "xn--r8jz45g.xn--zckzah"),
        ("http://правда.рф/", "xn--80aafi6cg.xn--p1ai"),
        ("http://ａｂｃ.com/", "abc.com"), ("http://sof\u{AD}t.com/", "soft.com"),
        ("http://☃.net/", "xn--n3h.net"), ("http://💩.la/", "xn--ls8h.la"),
    ])
    func internationalizedHosts(text: String, host: String) throws {
        #expect(try HTTPURL(parsing: text).host == host)
    }

    // RFC 3492 §7.1 (A), (C), (I) and (S).
    @Test(arguments: [
        ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
        ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ("-> $1.00 <-", "-> $1.00 <--"),
    ])
    func punycode(text: String, encoded: String) {
        #expect(Punycode.encode(text) == encoded)
    }

    @Test(arguments: [
        "http://h/a\r\nX: y", "http://h/\0", "http://h\t/", "http://h/\u{7F}", "\u{1}",
        "http://h:65536/", "http://h:0/", "http://h:8a/", "http://h:999999999999999999999/",
        "http://::1/", "http://[::1/", "http://[::1]x/", "http://[zz::1]/", "http://[1]/",
        "http://good.example\\@evil.example/", "http://a b/", "http://a%00b/", "http://%ff/",
        "http://a<b/", "http://\(String(repeating: "ü", count: 64)).de/", "http://[::1%25]/",
        "http://[fe80::1%25eth0]/",
    ])
    func invalidURLs(text: String) {
        let error = #expect(throws: RequestError.self) { try HTTPURL(parsing: text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.stage == .build)
    }

    @Test func controlCharactersAreReportedWithTheirPosition() {
        let error = #expect(throws: RequestError.self) { try HTTPURL(parsing: "http://h/\r") }
        #expect(error?.message.contains("a carriage return at byte 9") == true)
    }

    // RFC 3986 §5.4.1 and §5.4.2, strict.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ("http:g", "http:g"),
    ])
    func referencesResolve(reference: String, target: String) throws {
        let base = try HTTPURL(parsing: "http://a/b/c/d;p?q")
        #expect(try HTTPURL.resolve(reference, against: base).string == target)
    }

    @Test(arguments: [
        ("http://h", "x", "http://h/x"), ("http://h", "", "http://h"),
        ("http://h/a//b/", "../c", "http://h/a//c"), ("http://h//", "..", "http://h/"),
        ("https://u@h:1/a", "b", "https://u@h:1/b"), ("https://h/a", "http://i/../b", "http://i/b"),
        ("https://u@h/a", "//i/b", "https://i/b"),
    ])
    func furtherReferencesResolve(base: String, reference: String, target: String) throws {
        #expect(try HTTPURL.resolve(reference, against: HTTPURL(parsing: base)).string == target)
    }

    @Test func queriesAreAppended() throws {
        for (before, after) in [
            ("http://h/", "http://h/?a=1"), ("http://h/?", "http://h/?a=1"),
            ("http://h/?b", "http://h/?b&a=1"), ("http://h/?b&", "http://h/?b&a=1"),
            ("http://h/?b#f", "http://h/?b&a=1#f"),
        ] {
            var uri = try HTTPURL(parsing: before)
            uri.appendQuery("a=1")
            #expect(uri.string == after)
            uri.appendQuery("")
            #expect(uri.string == after)
        }
    }
}
