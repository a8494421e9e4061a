import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

/// Rate limit fields as structured fields (RFC 9651), well and badly written.
@Suite struct RFC9651RateLimitTests {
    private func read(_ fields: [String: String]) -> RateLimitHeaders {
        var headers = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) {
                headers.append(HTTPField(name: name, value: value))
            }
        }
        return RateLimitHeaders(status: 200, headers: headers, now: Date())
    }

    @Test(arguments: [
        (#""a";r=5;t=30"#, 5), (#""a";r=5"#, 5), (#""a" ; r=5 ; t=30"#, 5),
        (#""a";r=5, "b";r=3"#, 3), (#""a,b;r=1";r=5"#, 5), (#""a\",\"b";r=5"#, 5),
        (#""a\\";r=5"#, 5), (#""a";r=5;pk=:YWJj:"#, 5), (#"a;r=5"#, 5), (#""a";r=5.0"#, 5),
        (#"limit=9, remaining=5, reset=3"#, 5),
    ])
    func section3WhatIsLeft(text: String, left: Int) {
        #expect(read(["RateLimit": text]).remaining == left)
    }

    @Test(arguments: [
        "", #""a""#, #""a";r"#, #""a";r=x"#, #""a";r="5""#, #""a";r=0x10"#, #""a";r=1e3"#,
        #""a";r=inf"#, #""a";r=nan"#, #""a";r=+5"#, #""a";r=5."#, #""a";r=.5"#,
        #""a";r=1234567890123456"#, ",,,", ";;;", "\"", "\"\\", #""unclosed;r=5"#,
    ])
    func section3WhatSaysNothing(text: String) {
        let said = read(["RateLimit": text])
        #expect(said.remaining == nil && said.pause == nil)
    }

    @Test func section3331NumbersAreNoMoreThanTheyMayBe() {
        #expect(read(["RateLimit": #""a";r=999999999999999;t=1"#]).remaining == 1_000_000_000)
        #expect(read(["RateLimit": #""a";r=0;t=999999999999999"#]).pause == .seconds(86_400))
        #expect(read(["RateLimit": #""a";r=-5;t=10"#]).pause == .seconds(10))
        #expect(read(["RateLimit-Policy": #""a";q=10;w=0"#]).limit == nil)
        #expect(
            read(["RateLimit-Policy": #""a";q=10;w=5"#]).limit
                == RateLimit(requests: 10, per: .seconds(5)))
    }
}
