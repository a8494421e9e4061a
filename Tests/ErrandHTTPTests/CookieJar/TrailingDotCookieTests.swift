import ErrandTesting
import Foundation
import Testing

@testable import ErrandHTTP

/// A trailing dot makes a host name absolute in DNS; it names the same host.
@Suite struct TrailingDotCookieTests {
    private func url(_ host: String) throws -> HTTPURL { try HTTPURL(parsing: "https://\(host)/") }

    private func jar(_ list: SuffixList) throws -> CookieJar {
        CookieJar(publicSuffixes: try list.suffixes, clock: ManualClock())
    }

    private func names(_ jar: CookieJar, _ host: String) throws -> [String] {
        jar.cookies(for: try url(host)).map(\.name)
    }

    @Test(
        arguments: SuffixList.allCases,
        [
            ("evil.com.", "com.", "bank.com."), ("evil.com.", "com", "bank.com"),
            ("evil.com", "com.", "bank.com."), ("evil.co.uk.", "co.uk.", "bank.co.uk."),
            ("evil.github.io.", "github.io.", "bank.github.io."),
            ("evil.com.", ".com.", "bank.com."), ("evil.com..", "com..", "bank.com.."),
            ("evil.com...", "com...", "bank.com..."), ("evil.com..", ".com", "bank.com"),
        ])
    func refusesCookieForPublicSuffixWithTrailingDot(
        _ list: SuffixList, _ it: (server: String, domain: String, victim: String)
    ) throws {
        let jar = try jar(list)
        let result = jar.receive("a=b; Domain=\(it.domain)", from: try url(it.server))
        #expect(throws: CookieRefusal.self) { try result.get() }
        #expect(try names(jar, it.victim) == [])
        #expect(jar.all.isEmpty)
    }

    @Test(arguments: SuffixList.allCases)
    func publicSuffixWithTrailingDotCanSetOnlyCookiesOfItsHost(_ list: SuffixList) throws {
        let jar = try jar(list)
        let cookie = try jar.receive("a=b; Domain=github.io.", from: try url("github.io.")).get()
        #expect(cookie.isHostOnly && cookie.domain == "github.io")
        #expect(try names(jar, "me.github.io.") == [])
    }

    @Test(arguments: [("example.com.", "example.com"), ("example.com", "example.com.")])
    func hostWithAndWithoutTrailingDotShareCookies(server: String, other: String) throws {
        let jar = try jar(.builtIn)
        jar.receive("host=1", from: try url(server))
        jar.receive("domain=1; Domain=example.com.", from: try url(server))
        #expect(try names(jar, other) == ["host", "domain"])
        #expect(try names(jar, "www." + other) == ["domain"])
        jar.receive("host=2", from: try url(other))
        #expect(jar.all.map(\.pair) == ["host=2", "domain=1"])
    }

    @Test func foreignDomainWithTrailingDotIsRefused() throws {
        let jar = try jar(.builtIn)
        let result = jar.receive("a=b; Domain=bank.com.", from: try url("evil.com."))
        #expect(result == .failure(.foreignDomain))
    }

    @Test func insecureHostWithTrailingDotCannotHideSecureCookie() throws {
        let jar = try jar(.builtIn)
        jar.receive("a=safe; Secure", from: try url("example.com"))
        let result = jar.receive("a=x", from: try HTTPURL(parsing: "http://example.com./"))
        #expect(result == .failure(.overlaysSecureCookie))
    }

    @Test func loopbackHostWithTrailingDotIsTrusted() throws {
        let jar = CookieJar(trustsLoopback: true, clock: ManualClock())
        let origin = try HTTPURL(parsing: "http://localhost.:8080/")
        #expect((try? jar.receive("a=b; Secure", from: origin).get()) != nil)
    }

    @Test(arguments: SuffixList.allCases)
    func appCookiesAreStoredInCanonicalForm(_ list: SuffixList) throws {
        let jar = try jar(list)
        var cookie = Cookie(name: "a", value: "b", domain: "Example.com.", isHostOnly: false)
        #expect(cookie.domain == "example.com")
        cookie.domain = ".EXAMPLE.com."
        try jar.set(cookie)
        #expect(jar.all.map(\.domain) == ["example.com"])
        #expect(try names(jar, "www.example.com.") == ["a"])
        jar.delete(cookie)
        #expect(jar.all.isEmpty)
        cookie.domain = "co.uk."
        #expect(throws: CookieRefusal.publicSuffix) { try jar.set(cookie) }
        cookie.domain = "exa/mple.com"
        #expect(throws: CookieRefusal.invalidDomain) { try jar.set(cookie) }
        try jar.set(Cookie(name: "ip", value: "b", domain: "127.1"))
        try jar.set(Cookie(name: "idn", value: "b", domain: "bücher.example"))
        #expect(try names(jar, "127.0.0.1") == ["ip"])
        #expect(try names(jar, "BÜCHER.example") == ["idn"])
    }

    private struct Saved: CookiePersistence {
        let cookies: [Cookie]
        func load() throws -> [Cookie] { cookies }
        func save(_ cookies: [Cookie]) throws {}
    }

    @Test(arguments: SuffixList.allCases)
    func savedCookiesOfPublicSuffixesAreNotRestored(_ list: SuffixList) throws {
        let expires = Date(timeIntervalSinceNow: 3600)
        let saved = ["com.", "co.uk", "example.com."].map { domain in
            var cookie = Cookie(
                name: "a", value: domain, domain: "x", isHostOnly: false, expires: expires)
            cookie.domain = domain
            return cookie
        }
        let jar = CookieJar(
            persistence: Saved(cookies: saved), publicSuffixes: try list.suffixes)
        #expect(jar.all.map(\.domain) == ["example.com"])
        #expect(try names(jar, "bank.com.") == [])
        #expect(try names(jar, "www.example.com") == ["a"])
    }
}
