import Foundation
import HTTPTypes
import Testing

@testable import ErrandHTTP

/// Valid and invalid fields of RFC 9110.
@Suite struct RFC9110Tests {
    // MARK: - §5.6.7, dates

    @Test(arguments: [
        "Mon, 02 Jan 2023 03:04:05 GMT", "Monday, 02-Jan-23 03:04:05 GMT",
        "Mon Jan  2 03:04:05 2023", "Mon, 2 Jan 2023 03:04:05 GMT",
        // The weekday is not checked against the date.
        "Fri, 02 Jan 2023 03:04:05 GMT",
    ])
    func section567ValidDates(text: String) {
        #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == 1_672_628_645)
    }

    @Test(arguments: [
        "Mon, 30 Feb 2023 03:04:05 GMT", "Mon, 29 Feb 2023 03:04:05 GMT",
        "Mon, 31 Apr 2023 03:04:05 GMT", "Mon, 00 Jan 2023 03:04:05 GMT",
        "Mon, +2 Jan 2023 03:04:05 GMT", "Mon, 02 Jan +023 03:04:05 GMT",
        "Mon, 02 Jan 2023 +3:04:05 GMT", "Mon, 02 Jan 2023 3:4:5 GMT",
        "Mon, 02 Jan 2023 24:00:00 GMT", "Mon, 02 Jan 2023 03:60:05 GMT",
        "Mon, 02 Jan 2023 03:04:61 GMT", "Mon, 02 jan 2023 03:04:05 GMT",
        "Mon, 02 Jan 023 03:04:05 GMT", "Mon, 02 Jan 12023 03:04:05 GMT",
        "Mon, 02 Jan 2023 03:04:05", "Mon, 02 Jan 2023 03:04:05 gmt",
        "Mon, 02 Jan 2023 03:04:05 GMT+1", "Mon Jan  2 03:04:05 23",
        "Foo, 02 Jan 2023 03:04:05 GMT", "2023-01-02T03:04:05Z", "1672628645",
    ])
    func section567InvalidDates(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    /// The limit of 50 years is exact to the second and holds across the end of a century.
    @Test(arguments: [
        ("Sat, 21 Nov 2026 00:00:00 GMT", "01-Nov-76", 2076),
        ("Sat, 21 Nov 2026 00:00:00 GMT", "30-Nov-76", 1976),
        ("Fri, 31 Dec 1999 00:00:00 GMT", "01-Jan-00", 2000),
        ("Fri, 31 Dec 1999 00:00:00 GMT", "01-Jan-99", 1999),
        ("Mon, 01 Jan 2001 00:00:00 GMT", "01-Feb-99", 1999),
        ("Mon, 01 Jan 2001 00:00:00 GMT", "29-Feb-00", 2000),
    ])
    func section567TwoDigitYears(now: String, day: String, year: Int) throws {
        let now = try #require(HTTPDate.parse(now))
        let date = try #require(HTTPDate.parse("Sunday, \(day) 00:00:00 GMT", now: now))
        let text = "Sun, \(day.prefix(2)) \(day.dropFirst(3).prefix(3)) \(year) 00:00:00 GMT"
        #expect(date == HTTPDate.parse(text))
    }

    // MARK: - §8.3, content types

    @Test(arguments: [
        (#"text/html;charset=utf-8"#, "utf-8"), (#"Text/HTML;Charset="utf-8""#, "utf-8"),
        (#"text/html; charset="utf-8""#, "utf-8"), (#"text/html;charset=UTF-8"#, "utf-8"),
        (#"text/html;charset="\u\t\f-8""#, "utf-8"), (#"text/html;charset="utf-8"x"#, "utf-8"),
        (#"text/html;charset="utf-8"#, "utf-8"), (#"text/html;charset=;charset=gbk"#, "gbk"),
        (#"text/html;charset="";charset=gbk"#, "gbk"),
        (#"text/html;charset=gbk;charset=utf-8"#, "gbk"), (#"text/html;;;;charset=gbk"#, "gbk"),
        (#"text/html;x="a;charset=latin1";charset=gbk"#, "gbk"),
        (#"text/html;x="a\";charset=latin1";charset=gbk"#, "gbk"),
        (#"text/html;x;charset=gbk"#, "gbk"), (#"text/html;charset;charset=gbk"#, "gbk"),
        (#"text/html;charset=gbk;"#, "gbk"), (#"text/html;charset= gbk"#, "gbk"),
        (#"text/html;charset='gbk'"#, "gbk"), (#"text/html;=x;charset=gbk"#, "gbk"),
        (#"text/html;charset=";charset=gbk"#, ";charset=gbk"),
    ])
    func section83CharsetParameters(text: String, charset: String) {
        #expect(ResponseText.charset(of: text) == charset)
    }

    @Test(arguments: [
        "", ";", "text/html", "text/html;", "text/html;charset", "text/html;charset=",
        #"text/html;charset="""#, "charset=gbk", "text/html;xcharset=gbk", "text/html charset=gbk",
        "text/html;\"charset=gbk\"", "text/html,charset=gbk",
    ])
    func section83MissingCharset(text: String) {
        #expect(ResponseText.charset(of: text) == nil)
    }

    // MARK: - §10.2.3, Retry-After

    @Test(arguments: [
        ("0", Duration.zero), ("120", .seconds(120)), ("0000120", .seconds(120)),
        ("Sat, 21 Nov 2026 00:02:00 GMT", .seconds(120)),
        ("Saturday, 21-Nov-26 00:02:00 GMT", .seconds(120)),
        ("Sat Nov 21 00:02:00 2026", .seconds(120)),
        ("Sat, 21 Nov 1998 00:00:00 GMT", .zero),
    ])
    func section1023ValidRetryAfter(text: String, pause: Duration) throws {
        let now = try #require(HTTPDate.parse("Sat, 21 Nov 2026 00:00:00 GMT"))
        #expect(RetryAfter.duration(text, now: now) == pause)
    }

    @Test(arguments: ["", "-1", "+5", "1.5", "5 seconds", "0x10", "1e3", "soon", "5, 10"])
    func section1023InvalidRetryAfter(text: String) {
        #expect(RetryAfter.duration(text, now: Date()) == nil)
    }

    // MARK: - §11.6.1, challenges

    @Test(arguments: [
        ("Basic", ["Basic"]), ("Negotiate, NTLM", ["Negotiate", "NTLM"]),
        ("Negotiate YII=, Basic realm=\"a\"", ["Negotiate YII=", "Basic realm=a"]),
        ("Basic realm=\"a, Digest realm=\\\"b\\\"\"", ["Basic realm=a, Digest realm=\"b\""]),
        ("Basic realm=a,Digest realm=b,nonce=c", ["Basic realm=a", "Digest realm=b nonce=c"]),
        (", ,Basic realm=\"a\",,", ["Basic realm=a"]),
        ("Basic  realm  =  \"a\"  ,  charset = \"UTF-8\"", ["Basic realm=a charset=UTF-8"]),
        (
            "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
            ["Newauth realm=apps type=1 title=Login to \"apps\"", "Basic realm=simple"]
        ),
        ("Foo a==", ["Foo a=="]), ("Foo a=b", ["Foo a=b"]), ("Foo bar, a=b", ["Foo bar a=b"]),
        ("BASIC REALM=\"x\"", ["BASIC realm=x"]), ("Basic realm=\"\"", ["Basic realm="]),
        ("Basic realm=\"unclosed", ["Basic"]), ("realm=\"x\"", []), ("=, \"x\", ;", []),
        (
            "Bearer realm=\"x\", error=\"invalid_token\", error_description=\"It, expired\"",
            ["Bearer realm=x error=invalid_token error_description=It, expired"]
        ),
    ])
    func section1161Challenges(field: String, expected: [String]) {
        let shown = AuthenticationChallenge.parse([field]).map { challenge in
            ([challenge.scheme] + (challenge.token.map { [$0] } ?? [])
                + challenge.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        }
        #expect(shown == expected)
    }
}
