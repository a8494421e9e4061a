import Testing

@testable import ErrandCurl

/// Servers that require HTTP/1.1 are remembered for ten minutes.
struct HTTP11OriginsTests {
    private func host(_ number: Int) -> ConnectionKey.Host {
        ConnectionKey.Host(name: "host\(number)", port: 443)
    }

    @Test func entryExpires() {
        var origins = HTTP11Origins()
        #expect(origins.isEmpty)
        origins.insert(host(1), at: MonotonicTime(nanoseconds: 5))
        let end = MonotonicTime(nanoseconds: 5).advanced(nanoseconds: HTTP11Origins.lifetime)
        #expect(origins.contains(host(1), at: MonotonicTime(nanoseconds: end.nanoseconds - 1)))
        #expect(!origins.contains(host(1), at: end))
        #expect(!origins.contains(host(2), at: MonotonicTime(nanoseconds: 5)))
        #expect(
            !origins.contains(
                ConnectionKey.Host(name: "host1", port: 444), at: MonotonicTime(nanoseconds: 5)))
    }

    @Test func numberOfOriginsIsLimited() {
        var origins = HTTP11Origins()
        for number in 0...HTTP11Origins.limit {
            origins.insert(host(number), at: MonotonicTime(nanoseconds: 0))
        }
        #expect(!origins.contains(host(0), at: MonotonicTime(nanoseconds: 1)))
        #expect(origins.contains(host(HTTP11Origins.limit), at: MonotonicTime(nanoseconds: 1)))
    }
}
