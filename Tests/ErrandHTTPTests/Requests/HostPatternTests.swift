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
        ("[::1]", "[::1]", true),
    ])
    func patternsMatchHosts(_ pattern: String, _ host: String, _ isMatch: Bool) {
        #expect(HostPattern(pattern).matches(host) == isMatch)
    }

    @Test(arguments: [
        "*.com", "*.co.uk", "*.github.io", "*", "*.", "", "a.*.com", "*.*.com", "*a.example.com",
        "https://example.com", "example.com/x", "*..com",
    ])
    func invalidPatternsMatchNothing(_ text: String) {
        let pattern = HostPattern(text)
        #expect(!pattern.isValid)
        for host in ["example.com", "a.co.uk", "me.github.io", text] {
            #expect(!pattern.matches(host))
        }
    }
}
