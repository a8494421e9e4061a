import ErrandCore
import ErrandCurl
import Testing

@Suite struct RecentOriginsTests {
    private func url(_ text: String) throws -> URI { try URI.test(text) }

    @Test func anOriginIsSchemeHostAndPort() throws {
        var origins = RecentOrigins()
        origins.add(try url("http://a.example/x"))
        #expect(origins.contains(try url("http://a.example:80/y?z")))
        #expect(!origins.contains(try url("https://a.example:80/x")))
        #expect(!origins.contains(try url("http://a.example:81/x")))
        #expect(!origins.contains(try url("http://b.example/x")))
    }

    @Test func theLatestAreKept() throws {
        var origins = RecentOrigins()
        origins.add(try url("http://first.example"))
        for port in 1..<RecentOrigins.limit { origins.add(try url("http://a.example:\(port)")) }
        #expect(origins.contains(try url("http://first.example")))
        // Heard of again, it is no longer the oldest.
        origins.add(try url("http://first.example"))
        origins.add(try url("http://a.example:99"))
        #expect(origins.contains(try url("http://first.example")))
        #expect(!origins.contains(try url("http://a.example:1")))
    }
}
