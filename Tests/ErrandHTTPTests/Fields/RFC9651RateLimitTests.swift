import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandHTTP

/// Valid and invalid rate limit fields as structured fields (RFC 9651).
@Suite struct RFC9651RateLimitTests {
    private func parse(_ fields: [String: String]) -> RateLimitHeaders {
        RateLimitHeaders(status: 200, headers: HTTPFields(text: fields), now: Date())
    }

    @Test(arguments: [
        (#""a";r=5;t=30"#, 5), (#""a";r=5"#, 5), (#""a" ; r=5 ; t=30"#, 5),
        (#""a";r=5, "b";r=3"#, 3), (#""a,b;r=1";r=5"#, 5), (#""a\",\"b";r=5"#, 5),
        (#""a\\";r=5"#, 5), (#""a";r=5;pk=:YWJj:"#, 5), (#"a;r=5"#, 5), (#""a";r=5.0"#, 5),
        (#"limit=9, remaining=5, reset=3"#, 5),
    ])
    func section3RemainingRequests(text: String, remaining: Int) {
        #expect(parse(["RateLimit": text]).remaining == remaining)
    }

    @Test(arguments: [
        "", #""a""#, #""a";r"#, #""a";r=x"#, #""a";r="5""#, #""a";r=0x10"#, #""a";r=1e3"#,
        #""a";r=inf"#, #""a";r=nan"#, #""a";r=+5"#, #""a";r=5."#, #""a";r=.5"#,
        #""a";r=1234567890123456"#, ",,,", ";;;", "\"", "\"\\", #""unclosed;r=5"#,
    ])
    func section3InvalidFieldsAreIgnored(text: String) {
        let parsed = parse(["RateLimit": text])
        #expect(parsed.remaining == nil && parsed.pause == nil)
    }

    @Test func section3331NumbersAreClamped() {
        #expect(parse(["RateLimit": #""a";r=999999999999999;t=1"#]).remaining == 1_000_000_000)
        #expect(parse(["RateLimit": #""a";r=0;t=999999999999999"#]).pause == .seconds(86_400))
        #expect(parse(["RateLimit": #""a";r=-5;t=10"#]).pause == .seconds(10))
        #expect(parse(["RateLimit-Policy": #""a";q=10;w=0"#]).limit == nil)
        #expect(
            parse(["RateLimit-Policy": #""a";q=10;w=5"#]).limit
                == RateLimit(requests: 10, per: .seconds(5)))
    }
}
