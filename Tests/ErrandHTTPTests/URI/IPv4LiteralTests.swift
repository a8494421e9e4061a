import Testing

@testable import ErrandHTTP

/// IPv4 addresses in the host of a URL (WHATWG URL §3.5).
@Suite struct IPv4LiteralTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("127.0.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"), ("0X7F.0.0.1", "127.0.0.1"), ("0x7f000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"), ("017700000001", "127.0.0.1"),
        ("127。1", "127.0.0.1"), ("127．0．0．1", "127.0.0.1"), ("１２７.0.0.1", "127.0.0.1"),
        ("127%2e1", "127.0.0.1"), ("%31%32%37.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"),
        ("0", "0.0.0.0"), ("0x", "0.0.0.0"), ("00.0x.0.0", "0.0.0.0"), ("1.2.3", "1.2.0.3"),
        ("256", "0.0.1.0"), ("4294967295", "255.255.255.255"), ("1.16777215", "1.255.255.255"),
        ("192.168.257", "192.168.1.1"), ("0.0.0.0", "0.0.0.0"), ("1.02.3.4", "1.2.3.4"),
        ("255.255.255.255", "255.255.255.255"),
    ])
    func spellingsOfAddresses(text: String, address: String) throws {
        #expect(try HTTPURL(parsing: "http://\(text)/").host == address)
        var url = try HTTPURL(parsing: "http://example.com/")
        url.host = text
        #expect(url.host == address)
        #expect(url.isValid)
    }

    @Test(arguments: [
        "256.0.0.1", "1.256.0.1", "1.2.3.256", "1.2.65536", "1.16777216", "4294967296",
        "99999999999999999999999", "0x100000000", "0xfffffffffffffffffffffff", "1.2.3.4.5",
        "1..2", ".1", "08", "1.09", "a.1", "example.0x1", "-1.1",
    ])
    func numbersThatAreNoAddress(text: String) throws {
        let error = #expect(throws: RequestError.self) { try HTTPURL(parsing: "http://\(text)/") }
        #expect(error?.code == .invalidURL)
    }

    @Test(arguments: ["1.a", "0xg", "1e", "127.0.0.1a", "0x7f.com", "1-1", "a.b1", "1a.1b"])
    func namesWithDigits(text: String) throws {
        #expect(try HTTPURL(parsing: "http://\(text)/").host == text)
    }
}
