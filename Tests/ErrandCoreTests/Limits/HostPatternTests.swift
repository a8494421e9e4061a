import ErrandCore
import ErrandHTTP
import Testing

@Suite struct HostPatternTests {
    @Test(arguments: [
        ("example.com", "example.com", true), ("Example.COM", "example.com", true),
        ("example.com", "a.example.com", false), ("*.example.com", "a.example.com", true),
        ("*.example.com", "a.b.example.com", true), ("*.example.com", "example.com", false),
        ("*.example.com", "badexample.com", false), ("*.example.com", ".example.com", false),
        ("*.example.com", "example.com.evil.org", false), ("127.0.0.1", "127.0.0.1", true),
        ("*.0.0.1", "127.0.0.1", false), ("localhost", "localhost", true),
        ("[::1]", "[::1]", true), ("::1", "[::1]", true), ("[0:0:0:0:0:0:0:1]", "[::1]", true),
        ("127.1", "127.0.0.1", true), ("0x7f.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "2130706433", true), ("127.0.0.1", "128.0.0.1", false),
        ("bücher.example", "xn--bcher-kva.example", true),
        ("*.bücher.example", "a.xn--bcher-kva.example", true),
        ("example.com.", "example.com", true), ("example.com", "example.com.", true),
        ("*.example.com.", "a.example.com.", true), ("*.example.com", "a.EXAMPLE.com.", true),
    ])
    func patternsMatchHosts(_ pattern: String, _ host: String, _ isMatch: Bool) {
        #expect(HostPattern(pattern).matches(host) == isMatch)
    }

    @Test(arguments: [
        "*.com", "*.co.uk", "*.github.io", "*", "*.", "", "a.*.com", "*.*.com", "*a.example.com",
        "https://example.com", "example.com/x", "*..com", "*.com.", "*.co.uk.", "*.127.1",
        "*.[::1]", "example.com:443", "user@example.com", "1.2.3.4.5", "[::1%25lo]",
    ])
    func invalidPatternsMatchNothing(_ text: String) {
        let pattern = HostPattern(text)
        #expect(!pattern.isValid)
        for host in ["example.com", "a.co.uk", "me.github.io", text] {
            #expect(!pattern.matches(host))
        }
    }
}
