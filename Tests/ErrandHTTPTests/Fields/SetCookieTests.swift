import Foundation
import Testing

@testable import ErrandHTTP

@Suite struct SetCookieTests {
    private let now = Date(timeIntervalSince1970: 1_893_456_000)

    private func parse(_ text: String) throws(CookieRefusal) -> SetCookie {
        try SetCookie.parse(text, now: now).get()
    }

    @Test(arguments: [
        ("a=b", "a", "b"), ("a=b=c", "a", "b=c"), (" a\t=  b c ", "a", "b c"), ("a=", "a", ""),
        ("=b", "", "b"), ("b", "", "b"), ("a=\"b\"", "a", "\"b\""), ("a=b;", "a", "b"),
        ("a=b\u{301};x", "a", "b\u{301}"), ("a;b=c", "", "a"),
    ])
    func nameAndValue(_ text: String, _ name: String, _ value: String) throws {
        let cookie = try parse(text)
        #expect(cookie.name == name)
        #expect(cookie.value == value)
    }

    @Test func invalidCookiesAreRejected() {
        #expect(throws: CookieRefusal.empty) { try parse("") }
        #expect(throws: CookieRefusal.empty) { try parse("=") }
        #expect(throws: CookieRefusal.empty) { try parse(" ; Path=/") }
        for control in ["\u{0}", "\u{1f}", "\u{7f}", "\n", "\r"] {
            #expect(throws: CookieRefusal.controlCharacter) { try parse("a=b\(control)c") }
            #expect(throws: CookieRefusal.controlCharacter) { try parse("a=b; Path=/\(control)") }
        }
        #expect(throws: CookieRefusal.tooLong) {
            try parse("a=" + String(repeating: "x", count: 4096))
        }
    }

    @Test func limitsAreInclusive() throws {
        #expect(try parse("a=" + String(repeating: "x", count: 4095)).value.count == 4095)
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(try parse("a=b; Path=\(path)").path == path)
        #expect(try parse("a=b; Path=\(path)p").hasPath == false)
        #expect(try parse("a=\tb\tc\t").value == "b\tc")
    }

    @Test func maxAgeOverridesExpiresInAnyOrder() throws {
        let date = "Expires=Tue, 01 Jan 2030 01:00:00 GMT"
        #expect(try parse("a=b; Max-Age=60; \(date)").expires == now + 60)
        #expect(try parse("a=b; \(date); Max-Age=60").expires == now + 60)
        #expect(try parse("a=b; \(date); max-age=abc").expires == now + 3600)
        #expect(try parse("a=b; Max-Age=60; Max-Age=70").expires == now + 70)
        #expect(try parse("a=b; Max-Age=60; Max-Age=x").expires == now + 60)
    }

    @Test func lifetimeIsCappedAt400Days() throws {
        let longest = now + 400 * 86400
        #expect(try parse("a=b; Max-Age=99999999999999999999999").expires == longest)
        #expect(try parse("a=b; Max-Age=34560001").expires == longest)
        #expect(try parse("a=b; Expires=Fri, 01 Jan 2100 00:00:00 GMT").expires == longest)
    }

    @Test func expiredAndInvalidLifetimes() throws {
        for age in ["0", "-1", "-99999999999999999999999"] {
            #expect(try parse("a=b; Max-Age=\(age)").expires == .distantPast)
        }
        for age in ["", "-", "+1", "1.5", "1 2", "٣"] {
            #expect(try parse("a=b; Max-Age=\(age)").expires == nil)
        }
        #expect(try parse("a=b; Expires=never").expires == nil)
    }

    @Test func domainAndPath() throws {
        #expect(try parse("a=b; Domain=.EXAMPLE.com").domain == "example.com")
        #expect(try parse("a=b; Domain=..example.com").domain == ".example.com")
        #expect(try parse("a=b; Domain=x; domain=").domain == "")
        #expect(try parse("a=b; Path=/x; Path=y").path == nil)
        #expect(try parse("a=b; Path=").path == nil)
        #expect(try parse("a=b;path=/x ;Path=/y").path == "/y")
    }

    @Test func flags() throws {
        let cookie = try parse("a=b; SECURE=no; httponly; SameSite=lax; Unknown=1")
        #expect(cookie.isSecure && cookie.isHTTPOnly)
        #expect(cookie.sameSite == .lax)
        #expect(try parse("a=b; SameSite=Strict; SameSite=huh").sameSite == nil)
        #expect(try parse("a=b; SameSite=NONE").sameSite == Cookie.SameSite.none)
    }
}
