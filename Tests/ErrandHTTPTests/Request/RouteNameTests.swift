import ErrandHTTP
import Testing

/// Names of hosts in address overrides and bypass lists.
@Suite("RouteName")
struct RouteNameTests {
    @Test(arguments: [
        ("Example.com", "example.com"), ("a:80", "a:80"), ("127.1:8080", "127.0.0.1:8080"),
        ("[::1]:1", "[::1]:1"), ("", nil), (":80", nil), ("a:0", nil), ("a:99999", nil),
        ("http://a", nil), ("u@a", nil), ("a/b", nil), ("a\0b", nil), ("a:80\r\n", nil),
    ])
    func originsHaveOneForm(text: String, origin: String?) {
        #expect(RouteName.origin(text) == origin)
    }

    @Test(arguments: [
        ("127.0.0.1", 32), ("::1", 128), ("[::1]", 128), ("::ffff:192.0.2.1", 128), ("", nil),
        ("127.1", nil), ("256.0.0.1", nil), ("[127.0.0.1]", nil), ("localhost", nil), ("[]", nil),
        ("::1\0", nil), ("fe80::1%eth0", nil),
    ])
    func addressesAreRecognized(text: String, bits: Int?) {
        #expect(RouteName.addressBits(text) == bits)
    }

    @Test(arguments: [
        ("*", true), ("example.com", true), (".example.com", true), ("*.example.com", true),
        ("example.com.", true), ("10.0.0.0/8", true), ("fd00::/8", true), ("::1", true),
        ("my_host-1", true), ("bücher.example", true), ("", false), ("*.", false), ("a..b", false),
        ("a:80", true), ("10.0.0.0/33", false), ("a/8", false), ("a\0b", false), ("*a", false),
        ("a:", false), ("a:0", false), ("a:65536", false), ("a:8x", false), ("[::1]:443", true),
        ("*:80", true), ("*.a:80", true), ("[::1]", true), ("[fd00::]/8", true), ("[::1", false),
        ("10.0.0.1:80", true), ("10.0.0.0/8:80", true), (":80", false), ("http://a", false),
    ])
    func bypassEntriesAreChecked(text: String, isValid: Bool) {
        #expect(RouteName.isBypass(text) == isValid)
    }
}
