import ErrandHTTP
import Testing

@testable import ErrandCore

@Suite struct ContentTypePatternsTests {
    @Test(arguments: [
        "application/json", "Application/JSON", "application/json; charset=utf-8",
        "application/problem+json", "text/json", "text/javascript;charset=gbk",
        " application/json ",
    ])
    func jsonContentTypes(type: String) throws {
        #expect(try #require(ContentTypePatterns.automatic(for: .json)).match(type))
    }

    @Test(arguments: ["text/html", "application/jsonp", "json", "+json2", "text/plain; a=+json"])
    func otherContentTypesAreNotJSON(type: String) throws {
        #expect(try !#require(ContentTypePatterns.automatic(for: .json)).match(type))
    }

    @Test func wildcardAndExactPatterns() {
        let patterns = ContentTypePatterns(["image/*", "text/html"])
        #expect(patterns.match("image/png"))
        #expect(patterns.match("TEXT/html; charset=x"))
        #expect(!patterns.match("video/mp4"))
        #expect(ContentTypePatterns(["*/*"]).match("anything/at-all"))
    }
}
