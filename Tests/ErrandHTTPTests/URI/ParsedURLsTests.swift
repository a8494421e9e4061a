import Testing

@testable import ErrandHTTP

/// A URL that was parsed before has the same parts when it is parsed again.
struct ParsedURLsTests {
    @Test func everyTextHasItsOwnURL() throws {
        let urls = ParsedURLs()
        // The texts of each pair are canonically equivalent and have the same place in the table.
        for (one, other) in [
            ("https://a.test/\u{F900}/list.json", "https://a.test/\u{8C48}/list.json"),
            ("files/a\u{323}\u{307}/list.json", "files/a\u{307}\u{323}/list.json"),
        ] {
            #expect(one == other)
            for text in [one, other, one] {
                #expect(try urls.url(parsing: text) == URI(parsing: text))
            }
        }
        #expect(throws: RequestError.self) { try urls.url(parsing: "http://a.test:x/") }
    }
}
