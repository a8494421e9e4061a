import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

@Suite struct CookieJarTests {
    let clock = ManualClock()
    let jar: CookieJar

    init() { jar = CookieJar(clock: clock) }

    func jar(_ list: SuffixList) throws -> CookieJar {
        CookieJar(publicSuffixes: try list.suffixes, clock: clock)
    }

    func url(_ text: String) throws -> HTTPURL { try HTTPURL(parsing: text) }

    func header(_ text: String, in other: CookieJar? = nil) throws -> String {
        (other ?? jar).cookies(for: try url(text)).map(\.pair).joined(separator: "; ")
    }

    @discardableResult
    func receive(_ field: String, _ text: String = "https://example.com/") throws -> Cookie {
        try jar.receive(field, from: try url(text)).get()
    }

    // The examples of RFC 6265bis §3.1.

    @Test func examplesOfRFC6265bis() throws {
        try receive("SID=31d4d96e407aad42", "https://www.example.com/")
        #expect(try header("https://www.example.com/x") == "SID=31d4d96e407aad42")
        #expect(try header("https://example.com/") == "")

        try receive("SID=31d4d96e407aad42; Path=/; Domain=example.com", "https://www.example.com/")
        #expect(try header("https://a.example.com/") == "SID=31d4d96e407aad42")
        jar.clear()

        try receive("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly")
        try receive("lang=en-US; Path=/; Domain=example.com")
        #expect(try header("https://example.com/") == "SID=31d4d96e407aad42; lang=en-US")
        try receive("lang=; Path=/; Domain=example.com; Expires=Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(try header("https://example.com/") == "SID=31d4d96e407aad42")
    }

    @Test(arguments: [
        ("/admin", "/admin", true), ("/admin", "/admin/", true), ("/admin", "/admin/x", true),
        ("/admin", "/administrator", false), ("/admin", "/echo", false),
        ("/admin/", "/admin", false),
        ("/admin/", "/admin/x", true), ("/", "/anything", true), ("/", "", true),
        ("/Admin", "/admin", false),
    ])
    func pathMatching(_ path: String, _ request: String, _ isSent: Bool) throws {
        try receive("a=b; Path=\(path)")
        #expect(try header("https://example.com\(request)") == (isSent ? "a=b" : ""))
    }

    @Test(arguments: [
        ("", "/"), ("/", "/"), ("/x", "/"), ("/x/", "/x"), ("/x/y", "/x"), ("/x/y/z?q=/", "/x/y"),
    ])
    func defaultPathIsTheDirectoryOfTheRequest(_ request: String, _ path: String) throws {
        #expect(try receive("a=b", "https://example.com\(request)").path == path)
        #expect(try receive("a=b; Path=relative", "https://example.com\(request)").path == path)
    }

    @Test(
        arguments: SuffixList.allCases,
        [
            ("example.com", "www.example.com", true), ("example.com", "example.com", true),
            ("example.com", "badexample.com", false), ("www.example.com", "example.com", false),
            ("other.com", "example.com", false), ("com", "example.com", false),
            ("co.uk", "example.co.uk", false), ("github.io", "me.github.io", false),
            ("example.co.uk", "www.example.co.uk", true), ("0.0.1", "127.0.0.1", false),
            (".example.com.", "example.com", true), ("exämple.com", "example.com", false),
        ]
    )
    func domainMatching(_ list: SuffixList, _ it: (String, String, Bool)) throws {
        let (domain, host, isAccepted) = it
        let jar = try jar(list)
        let result = jar.receive("a=b; Domain=\(domain)", from: try url("https://\(host)/"))
        #expect(((try? result.get()) != nil) == isAccepted)
        #expect(try header("https://\(host)/", in: jar) == (isAccepted ? "a=b" : ""))
    }

    @Test(arguments: SuffixList.allCases)
    func publicSuffixCookiesAreHostOnly(_ list: SuffixList) throws {
        let jar = try jar(list)
        func receive(_ field: String, _ text: String) throws -> Cookie {
            try jar.receive(field, from: try url(text)).get()
        }
        let cookie = try receive("a=b; Domain=github.io", "https://github.io/")
        #expect(cookie.isHostOnly)
        #expect(try header("https://github.io/", in: jar) == "a=b")
        #expect(try header("https://me.github.io/", in: jar) == "")
        #expect(try receive("a=b; Domain=localhost", "http://localhost:8080/").isHostOnly)
        #expect(try receive("a=b; Domain=127.0.0.1", "http://127.0.0.1:8080/").isHostOnly)
    }

    @Test func portsDoNotSeparateCookies() throws {
        try receive("a=b", "http://127.0.0.1:8080/")
        #expect(try header("http://127.0.0.1:9090/") == "a=b")
        #expect(try header("http://127.0.0.2:8080/") == "")
    }

    @Test func secureCookiesAreSentOverTLSOnly() throws {
        try receive("a=b; Secure")
        #expect(try header("https://example.com/") == "a=b")
        #expect(try header("http://example.com/") == "")
        let refused = jar.receive("a=c; Secure", from: try url("http://127.0.0.1/"))
        #expect(refused == .failure(.insecureOrigin))
    }

    @Test func loopbackCanBeTrusted() throws {
        let jar = CookieJar(trustsLoopback: true, clock: clock)
        for host in ["localhost", "127.0.0.1", "[::1]", "api.localhost"] {
            jar.receive("a=b; Secure", from: try url("http://\(host):8080/"))
            #expect(try header("http://\(host):8080/", in: jar) == "a=b")
        }
        let refused = jar.receive("a=b; Secure", from: try url("http://127.evil.com/"))
        #expect(refused == .failure(.insecureOrigin))
    }

    @Test func insecureOriginsCannotOverwriteSecureCookies() throws {
        try receive("a=safe; Secure; Path=/login; Domain=example.com")
        func insecure(_ field: String, _ text: String) throws -> Bool {
            (try? jar.receive(field, from: try url(text)).get()) != nil
        }
        #expect(try insecure("a=x; Path=/login", "http://example.com/") == false)
        #expect(try insecure("a=x; Path=/login/en", "http://example.com/") == false)
        #expect(try insecure("a=x; Path=/login", "http://www.example.com/") == false)
        #expect(try insecure("a=x; Path=/", "http://example.com/"))
        #expect(try insecure("b=x; Path=/login", "http://example.com/"))
        #expect(try insecure("a=x; Max-Age=0; Path=/login", "http://example.com/") == false)
        #expect(try header("https://example.com/login").hasPrefix("a=safe"))
        #expect(try receive("a=new; Path=/login; Domain=example.com").value == "new")
    }

    @Test(arguments: [
        ("__Secure-a=b", false), ("__Secure-a=b; Secure", true), ("__SECURE-a=b", false),
        ("__Host-a=b; Secure; Path=/", true), ("__Host-a=b; Secure", false),
        ("__host-a=b; Secure; Path=/x", false), ("__Host-a=b; Path=/", false),
        ("__Host-a=b; Secure; Path=/; Domain=example.com", false), ("=__Host-a=b", false),
        ("__Secure-a", false), ("__Hosta=b", true), ("__Host-a=b; Secure; Path=", false),
    ])
    func namePrefixes(_ field: String, _ isAccepted: Bool) throws {
        let result = jar.receive(field, from: try url("https://example.com/"))
        #expect(((try? result.get()) != nil) == isAccepted)
    }

    @Test func cookiesAreSortedByPathLengthThenCreation() throws {
        try receive("c=3; Path=/")
        try receive("a=1; Path=/x")
        try receive("b=2; Path=/x")
        try receive("d=4; Path=/x/y")
        try receive("a=5; Path=/x")  // a new value keeps the creation time
        #expect(try header("https://example.com/x/y") == "d=4; a=5; b=2; c=3")
    }

    @Test func cookiesWithoutAName() throws {
        try receive("justvalue")
        #expect(try header("https://example.com/") == "justvalue")
        try receive("=other")
        #expect(try header("https://example.com/") == "other")
    }

    @Test func cookiesExpire() throws {
        try receive("a=b; Max-Age=60")
        clock.advance(by: .milliseconds(59_999))
        #expect(try header("https://example.com/") == "a=b")
        clock.advance(by: .milliseconds(1))
        #expect(try header("https://example.com/") == "")
        #expect(jar.all.isEmpty)
        try receive("a=b")
        try receive("a=b; Max-Age=0")
        #expect(jar.all.isEmpty)
    }

    @Test func domainHoldsFiftyCookies() throws {
        try receive("secure=1; Secure")
        try receive("used=1")
        for number in 0..<48 { try receive("n\(number)=1") }
        _ = jar.cookies(for: try url("https://example.com/"))
        try receive("late=1; Path=/elsewhere")
        #expect(jar.all.count == 50)
        // All cookies have the same time of last use: any cookie without Secure may be evicted,
        // except the new one.
        #expect(jar.all.contains { $0.name == "secure" } && jar.all.contains { $0.name == "late" })
        for number in 0..<60 { try receive("m\(number)=1; Path=/m") }
        #expect(jar.all.count == 50)
        #expect(jar.all.contains { $0.name == "secure" })
        #expect(jar.all.last?.name == "m59")
    }

    @Test func jarHoldsThreeThousandCookies() throws {
        for domain in 0..<61 {
            for number in 0..<50 {
                try receive("n\(number)=1", "https://host\(domain).example.com/")
            }
        }
        #expect(jar.all.count == 3000)
        #expect(jar.all.first?.domain == "host1.example.com")
        #expect(jar.all.last?.domain == "host60.example.com")
    }

    // RFC 6265 §4.1.2.3, §5.2.3.
    @Test func leadingDotOfADomainMeansItsSubdomains() throws {
        func cookie(_ domain: String, _ isHostOnly: Bool? = nil) -> Cookie {
            Cookie(name: "a", value: "b", domain: domain, isHostOnly: isHostOnly)
        }
        #expect(!cookie(".example.com").isHostOnly && !cookie(".Example.COM.").isHostOnly)
        #expect(cookie("example.com").isHostOnly && cookie(".example.com", true).isHostOnly)
        #expect(!cookie("example.com", false).isHostOnly)
        #expect(cookie(".example.com").domain == "example.com")
        for (domain, isHostOnly, isSent) in [
            (".example.com", nil, true), ("example.com", nil, false), ("example.com", false, true),
            (".example.com", true, false),
        ] as [(String, Bool?, Bool)] {
            jar.clear()
            try jar.set(cookie(domain, isHostOnly))
            #expect(try header("http://example.com/") == "a=b")
            #expect((try header("http://www.example.com/") == "a=b") == isSent, "\(domain)")
        }
        jar.clear()
        var changed = cookie("other.org")
        changed.domain = ".example.com"
        try jar.set(changed)
        #expect(try header("http://www.example.com/") == "a=b")
        jar.delete(changed)
        #expect(jar.all.isEmpty)
        #expect(throws: CookieRefusal.publicSuffix) { try jar.set(cookie(".co.uk")) }
        #expect(throws: CookieRefusal.prefix) {
            try jar.set(
                Cookie(name: "__Host-a", value: "b", domain: ".example.com", isSecure: true))
        }
    }

    @Test func cookiesSetByTheApplication() throws {
        try jar.set(Cookie(name: "a", value: "b", domain: ".Example.com", isHostOnly: false))
        #expect(try header("http://www.example.com/") == "a=b")
        #expect(throws: CookieRefusal.publicSuffix) {
            try jar.set(Cookie(name: "a", value: "b", domain: "co.uk", isHostOnly: false))
        }
        #expect(throws: CookieRefusal.controlCharacter) {
            try jar.set(Cookie(name: "a", value: "b\r\nX: y", domain: "example.com"))
        }
        #expect(throws: CookieRefusal.controlCharacter) {
            try jar.set(Cookie(name: "a", value: "b; c=d", domain: "example.com"))
        }
        #expect(throws: CookieRefusal.invalidPath) {
            try jar.set(Cookie(name: "a", value: "b", domain: "example.com", path: "x"))
        }
        #expect(throws: CookieRefusal.prefix) {
            try jar.set(Cookie(name: "__Host-a", value: "b", domain: "example.com"))
        }
    }

    @Test func deleteAndClear() throws {
        let cookie = try receive("a=b")
        try receive("c=d; Max-Age=60")
        try receive("e=f", "https://other.com/")
        jar.delete(cookie)
        #expect(jar.all.map(\.name) == ["c", "e"])
        jar.delete { $0.domain == "other.com" }
        #expect(jar.all.map(\.name) == ["c"])
        try receive("s=1")
        jar.clearSession()
        #expect(jar.all.map(\.name) == ["c"])
        jar.clear()
        #expect(jar.all.isEmpty)
    }

    @Test func severalSetCookieFieldsInOneResponse() throws {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .setCookie, value: "a=b, c=d"))
        headers.append(
            HTTPField(name: .setCookie, value: "x=y; Expires=Thu, 01 Jan 2099 00:00:00 GMT"))
        headers.append(HTTPField(name: .setCookie, value: "bad=1; Domain=com"))
        jar.receive(headers, from: try url("https://example.com/"))
        #expect(jar.all.map(\.pair) == ["a=b, c=d", "x=y"])
    }
}
