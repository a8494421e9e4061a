import ErrandCore
import ErrandCurl
import Testing

@Suite struct RecentOriginsTests {
    private let usual = TransportOptions()
    private func url(_ text: String) throws -> HTTPURL { try HTTPURL.test(text) }

    @Test func originIncludesSchemeHostAndPort() throws {
        var origins = RecentOrigins()
        origins.add(try url("http://a.example/x"), usual)
        #expect(origins.contains(try url("http://a.example:80/y?z"), usual))
        #expect(!origins.contains(try url("https://a.example:80/x"), usual))
        #expect(!origins.contains(try url("http://a.example:81/x"), usual))
        #expect(!origins.contains(try url("http://b.example/x"), usual))
    }

    @Test func differentOptionsAreDifferentOrigins() throws {
        let url = try url("https://a.example")
        var origins = RecentOrigins()
        var options = usual
        options.mayReplay = true
        origins.add(url, options)
        #expect(origins.contains(url, usual))
        options.security = SecurityPolicy()
        #expect(!origins.contains(url, options))
        options = usual
        options.proxy = .none
        #expect(!origins.contains(url, options))
        origins.add(url, options)
        #expect(origins.contains(url, options) && origins.contains(url, usual))
    }

    @Test func latestOriginsAreKept() throws {
        var origins = RecentOrigins()
        origins.add(try url("http://first.example"), usual)
        for port in 1..<RecentOrigins.limit {
            origins.add(try url("http://a.example:\(port)"), usual)
        }
        #expect(origins.contains(try url("http://first.example"), usual))
        // After another response it is no longer the oldest origin.
        origins.add(try url("http://first.example"), usual)
        origins.add(try url("http://a.example:99"), usual)
        #expect(origins.contains(try url("http://first.example"), usual))
        #expect(!origins.contains(try url("http://a.example:1"), usual))
    }
}
