import ErrandHTTP
import Testing

@testable import ErrandCore

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
                #expect(try urls.url(parsing: text) == HTTPURL(parsing: text))
            }
        }
        #expect(throws: RequestError.self) { try urls.url(parsing: "http://a.test:x/") }
    }

    /// Also when one of many pairs takes the place of another.
    @Test func joinedURLsAreThoseOfJoining() throws {
        let urls = ParsedURLs()
        let bases = try [
            "https://a.test", "https://b.test:8443/v1", "https://a.test/v1/", "http://a.test/v1",
            "https://a.test/v1?key=1", "https://user@a.test/v1", "https://a.test/v1#part",
        ].map { try urls.url(parsing: $0) }
        let references = try [
            "users", "/users", "../users", "users?page=2", "users:all", "", "users#part",
            "a/./b",
        ].map { try urls.url(parsing: $0) }
        for _ in 0..<3 {
            for base in bases {
                for reference in references {
                    let url = urls.join(reference, below: base)
                    #expect(url == reference.joined(below: base))
                }
            }
        }
    }

    @Test func repeatedJoiningIsKeptUnlessItMayHoldSecrets() throws {
        let urls = ParsedURLs()
        func join(_ reference: String) throws -> HTTPURL {
            urls.join(
                try urls.url(parsing: reference), below: try urls.url(parsing: "https://a.test"))
        }
        #expect(try join("users").identity == join("users").identity)
        let secrets = try (join("users?token=1"), join("users?token=1"))
        #expect(secrets.0 == secrets.1 && secrets.0.identity != secrets.1.identity)
    }

    /// More bases than the table has places, so that some share a place.
    @Test func basesWithOnePlaceAreTwo() throws {
        let urls = ParsedURLs()
        let reference = try urls.url(parsing: "users")
        let bases = try (0..<200).map { try HTTPURL(parsing: "https://host\($0).test") }
        for base in bases {
            #expect(urls.join(reference, below: base).host == base.host)
        }
    }
}
