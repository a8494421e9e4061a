import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// Fields of RFC 9110 as servers write them, well and badly.
@Suite struct RFC9110Tests {
    // MARK: - §5.6.7, dates

    @Test(arguments: [
        "Mon, 02 Jan 2023 03:04:05 GMT", "Monday, 02-Jan-23 03:04:05 GMT",
        "Mon Jan  2 03:04:05 2023", "Mon, 2 Jan 2023 03:04:05 GMT",
        // A weekday that is not the date's misleads nobody.
        "Fri, 02 Jan 2023 03:04:05 GMT",
    ])
    func section567Dates(text: String) {
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
    func section567WhatIsNoDate(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    /// More than 50 years ahead is counted to the second, and a century's end is no border.
    @Test(arguments: [
        ("Sat, 21 Nov 2026 00:00:00 GMT", "01-Nov-76", 2076),
        ("Sat, 21 Nov 2026 00:00:00 GMT", "30-Nov-76", 1976),
        ("Fri, 31 Dec 1999 00:00:00 GMT", "01-Jan-00", 2000),
        ("Fri, 31 Dec 1999 00:00:00 GMT", "01-Jan-99", 1999),
        ("Mon, 01 Jan 2001 00:00:00 GMT", "01-Feb-99", 1999),
        ("Mon, 01 Jan 2001 00:00:00 GMT", "29-Feb-00", 2000),
    ])
    func section567YearsOfTwoDigits(now: String, day: String, year: Int) throws {
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
    func section83Charsets(text: String, charset: String) {
        #expect(ResponseText.charset(of: text) == charset)
    }

    @Test(arguments: [
        "", ";", "text/html", "text/html;", "text/html;charset", "text/html;charset=",
        #"text/html;charset="""#, "charset=gbk", "text/html;xcharset=gbk", "text/html charset=gbk",
        "text/html;\"charset=gbk\"", "text/html,charset=gbk",
    ])
    func section83WithoutACharset(text: String) {
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
    func section1023RetryAfter(text: String, pause: Duration) throws {
        let now = try #require(HTTPDate.parse("Sat, 21 Nov 2026 00:00:00 GMT"))
        #expect(RetryDecision.retryAfter(text, now: now) == pause)
    }

    @Test(arguments: ["", "-1", "+5", "1.5", "5 seconds", "0x10", "1e3", "soon", "5, 10"])
    func section1023WhatSaysNothing(text: String) {
        #expect(RetryDecision.retryAfter(text, now: Date()) == nil)
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

    // MARK: - §15.4, redirects

    /// What describes a body goes with it.
    @Test func section154ContentFieldsGoWithTheBody() throws {
        var request = TransportRequest(
            method: .post, url: try URI(parsing: "https://a.example/x"), body: .string("x"))
        let describing = [
            "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
            "Content-Digest", "Repr-Digest", "Digest", "Last-Modified", "Content-MD5", "Expect",
        ]
        for name in describing { request.headers.append(try field(name, "x")) }
        request.headers.append(try field("Accept", "text/html"))
        for (status, remain) in [
            (301, false), (302, false), (303, false), (307, true), (308, true),
        ] {
            let next = try follow(request, status: status, to: "/y")
            #expect((next.body != nil) == remain)
            let left = next.headers.map(\.name.rawName)
            #expect(left == (remain ? describing : []) + ["Accept"])
        }
    }

    @Test(arguments: ["///x", "http:x", "https:/x", "http://", "https://:80/"])
    func section154ARedirectWithoutAHostSaysSo(location: String) throws {
        let request = TransportRequest(url: try URI(parsing: "https://a.example/x"))
        let error = #expect(throws: RequestError.self) {
            try follow(request, status: 302, to: location)
        }
        #expect(error?.code == .unsafeRedirect)
        #expect(error?.message.contains("without a host") == true)
    }

    private func field(_ name: String, _ value: String) throws -> HTTPField {
        HTTPField(name: try #require(HTTPField.Name(name)), value: value)
    }

    private func follow(
        _ request: TransportRequest, status: Int, to location: String
    ) throws -> TransportRequest {
        let response = Response(
            status: HTTPResponse.Status(code: status), headers: [.location: location],
            url: request.url)
        switch RedirectDecision.decide(
            response: response, request: request, visited: [request.url], policy: .follow)
        {
        case .follow(let next): return next
        case .fail(let error): throw error
        case .deliver:
            Issue.record("not followed")
            return request
        }
    }
}
