import Testing

@testable import ErrandHTTP

/// Internationalized host names (UTS #46, non-transitional).
struct HostNameTests {
    @Test(arguments: [
        ("faß.de", "xn--fa-hia.de"), ("βόλος.com", "xn--nxasmm1c.com"),
        ("Königsgäßchen.example", "xn--knigsgchen-b4a3dun.example"),
        ("日本語。ＪＰ", "xn--wgv71a119e.jp"), ("I♥NY.de", "xn--iny-zx5a.de"),
        ("❤\u{FE0F}.com", "xn--qei.com"), ("ÖBB.at", "xn--bb-eka.at"),
        // A virama before the joiner; Persian letters on both sides of the non-joiner.
        ("ශ්\u{200D}රී.com", "xn--10cl1a0b660p.com"),
        ("نامه\u{200C}ای.com", "xn--mgba3gch31f060k.com"),
        ("مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"), ("דוגמה.טעסט", "xn--6dbbec0c.xn--deba0ad"),
    ])
    func internationalizedNames(text: String, ascii: String) throws {
        #expect(try HTTPURL(parsing: "http://\(text)/").host == ascii)
    }

    @Test(arguments: [
        "a\u{200D}b.com", "\u{200C}ab.com", "ab\u{200D}.com", "اا\u{200C}ب.com",
        "\u{301}a.com", "a\u{2028}b.com", "a\u{E000}b.com", "a\u{202E}b.com", "a\u{378}b.com",
        "אa.com", "1א.com", "℀.com", "\u{3000}.com",
    ])
    func invalidNamesAreRejected(text: String) throws {
        let error = #expect(throws: RequestError.self) { try HTTPURL(parsing: "http://\(text)/") }
        #expect(error?.code == .invalidURL)
    }

    /// Hosts in settings, such as patterns and pins.
    @Test(arguments: [
        ("Example.COM", "example.com"), ("example.com.", "example.com"), ("127.1", "127.0.0.1"),
        ("::1", "[::1]"), ("[0:0:0::1]", "[::1]"), ("bücher.example", "xn--bcher-kva.example"),
        ("example.com:80", nil), ("http://example.com", nil), ("a@b", nil), ("a/b", nil),
        ("", nil), (".", nil), ("a..b", nil), (".com", nil), ("com..", nil), ("a b", nil),
        ("1.2.3.4.5", nil),
    ])
    func hostsInSettings(text: String, host: String?) {
        #expect(HostName.named(text) == host)
    }

    @Test(arguments: [
        ("example.com", "example.com"), ("EXAMPLE.com", "example.com"),
        ("example.com.", "example.com"), ("127.0.0.1", "127.0.0.1"), ("0x7f.1", "127.0.0.1"),
        ("[::1]", "[::1]"), ("", ""), ("A B", "a b"),
    ])
    func hostsAreComparedInCanonicalForm(text: String, host: String) {
        #expect(HostName.compared(text) == host)
    }

    /// Normalizing marks takes quadratic time, so a long name is refused before.
    @Test func longNameIsRefusedBeforeItIsNormalized() {
        let name = "a" + String(repeating: "\u{301}\u{316}", count: 500_000)
        #expect(throws: InvalidURI.self) { try HostName.canonical(name.utf8) }
    }
}
