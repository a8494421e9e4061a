import Testing

@testable import ErrandHTTP

/// The canonical text of IPv6 addresses.
@Suite struct IPv6LiteralTests {
    @Test(arguments: [
        ("0:0:0:0:0:0:0:1", "::1"), ("2001:0db8::0001", "2001:db8::1"),
        ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("2001:DB8::FF", "2001:db8::ff"), ("0:0:0:0:0:0:0:0", "::"), ("1:0:0:0:0:0:0:0", "1::"),
        ("0:0:1:2:3:4:5:6", "::1:2:3:4:5:6"), ("1:2:0:4:5:6:0:8", "1:2:0:4:5:6:0:8"),
        ("0:0:0:0:0:ffff:7f00:1", "::ffff:127.0.0.1"), ("::FFFF:127.0.0.1", "::ffff:127.0.0.1"),
    ])
    func rfc5952(text: String, canonical: String) throws {
        #expect(try HTTPURL(parsing: "http://[\(text)]/").host == "[\(canonical)]")
    }

    @Test(arguments: ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25]"])
    func zonesAreRefused(host: String) throws {
        let error = #expect(throws: RequestError.self) { try HTTPURL(parsing: "http://\(host)/") }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("zone") == true)
    }
}
