import ErrandHTTP
import HTTPTypes
import TestSupport
import Testing

/// `Cache-Control` directives (RFC 9111 §5.2) and list elements (RFC 9110 §5.6.1).
@Suite struct CacheControlTests {
    @Test(arguments: [
        ("max-age=60", CacheControl.Seconds.number(60)), ("MAX-AGE=60", .number(60)),
        ("max-age=\"60\"", .number(60)), (" , max-age=60,", .number(60)),
        ("private,max-age = 60", .number(60)), ("max-age=0", .number(0)),
        ("max-age=007", .number(7)), ("max-age=99999999999999999999", .number(1 << 31)),
        ("x=\"a, max-age=1\", max-age=2", .number(2)),
        ("x=\"a\\\", max-age=1\", max-age=2", .number(2)), ("max-age=1, max-age=2", .number(1)),
        ("max-age=-1", .invalid), ("max-age=1.5", .invalid), ("max-age=1s", .invalid),
        ("max-age", .invalid), ("max-age=", .invalid), ("max-age=\"\"", .invalid),
        ("max-age=+5", .invalid), ("max-age=\u{0661}", .invalid), ("s-maxage=5", .absent),
        ("x-max-age=5", .absent), ("", .absent), ("\"max-age=5", .absent),
    ])
    func directiveSeconds(text: String, expected: CacheControl.Seconds) {
        #expect(CacheControl([text]).seconds(.maxAge) == expected)
    }

    @Test func directivesOfAllFieldsAreCombined() {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .cacheControl, value: "private, no-cache=\"set-cookie\""))
        headers.append(HTTPField(name: .cacheControl, value: "max-stale"))
        let control = CacheControl(headers)
        #expect(control.has(.private) && control.has(.noCache) && !control.has(.noStore))
        #expect(control.isBare(.maxStale) && !control.isBare(.noCache))
        #expect(control == CacheControl(["private, no-cache=set-cookie, max-stale"]))
        #expect(control != CacheControl(["private"]))
    }

    @Test(arguments: [
        ("a, b", ["a", "b"]), (" a ,, b\t,", ["a", "b"]), ("\"a,b\", c", ["\"a,b\"", "c"]),
        ("\"a\\\",b\",c", ["\"a\\\",b\"", "c"]), ("", []), (",,,", []),
        ("\"open, end", ["\"open, end"]),
        // A combining mark is not part of the blank before it.
        (" \u{301}a \u{301}", ["\u{301}a \u{301}"]),
    ])
    func listElements(text: String, expected: [String]) {
        #expect(ListElements(text).map(String.init) == expected)
    }

    /// Parsing takes linear time: quadratic time would exceed the time limit.
    @Test(.limited)
    func longFieldsAreParsedInLinearTime() {
        let count = 200_000
        let many = String(repeating: "a=1,", count: count) + "max-age=7"
        #expect(CacheControl([many]).seconds(.maxAge) == .number(7))
        let open = "max-age=7, x=\"" + String(repeating: "\\\", ,", count: count)
        #expect(CacheControl([open]).seconds(.maxAge) == .number(7))
        let blank =
            String(repeating: " ,\t,", count: count) + "max-age"
            + String(
                repeating: " ", count: count) + "=7"
        #expect(CacheControl([blank]).seconds(.maxAge) == .number(7))
        let digits = "max-age=" + String(repeating: "9", count: count)
        #expect(CacheControl([digits]).seconds(.maxAge) == .number(1 << 31))
        let quotes = String(repeating: "\"", count: 2 * count) + ",max-age=7"
        #expect(CacheControl([quotes]).seconds(.maxAge) == .number(7))
        let equals = String(repeating: "=", count: count) + ",max-age=7"
        #expect(CacheControl([equals]).seconds(.maxAge) == .number(7))
    }

    @Test func pragmaAppliesOnlyWithoutCacheControl() throws {
        let pragma = try #require(HTTPField.Name("Pragma"))
        #expect(RequestCacheControl([pragma: "x, No-Cache"]).wantsRevalidation)
        #expect(
            !RequestCacheControl([pragma: "no-cache", .cacheControl: "max-stale"]).wantsRevalidation
        )
        #expect(RequestCacheControl([.cacheControl: "max-age=soon"]).wantsRevalidation)
    }
}
