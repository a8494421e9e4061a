import Testing

@testable import ErrandCurl

/// The engine carries requests to origins that have negotiated HTTP/1.1, for a limited time.
struct LearnedOriginsTests {
    private let origin = ConnectionKey.Host(name: "h.test", port: 443)

    private func time(_ nanoseconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1).advanced(nanoseconds: nanoseconds)
    }

    @Test func originIsLearnedUntilItExpires() {
        var origins = LearnedOrigins()
        #expect(!origins.haveHTTP11(origin, at: time(0)))
        origins.negotiated(origin, isHTTP11: true, at: time(0))
        #expect(origins.haveHTTP11(origin, at: time(LearnedOrigins.lifetime - 1)))
        #expect(!origins.haveHTTP11(origin, at: time(LearnedOrigins.lifetime)))
        let otherPort = ConnectionKey.Host(name: "h.test", port: 8443)
        #expect(!origins.haveHTTP11(otherPort, at: time(0)))
    }

    @Test func http2IsLearnedToo() {
        var origins = LearnedOrigins()
        origins.negotiated(origin, isHTTP11: true, at: time(0))
        origins.negotiated(origin, isHTTP11: false, at: time(1))
        #expect(!origins.haveHTTP11(origin, at: time(1)))
        #expect(origins.isEmpty)
    }

    @Test func numberOfOriginsIsLimited() {
        var origins = LearnedOrigins()
        for port in 0..<LearnedOrigins.limit {
            let host = ConnectionKey.Host(name: "h.test", port: 1000 + port)
            origins.negotiated(host, isHTTP11: true, at: time(UInt64(port)))
        }
        let first = ConnectionKey.Host(name: "h.test", port: 1000)
        #expect(origins.haveHTTP11(first, at: time(10_000)))
        // All are recent: the store begins again.
        origins.negotiated(origin, isHTTP11: true, at: time(10_000))
        #expect(!origins.haveHTTP11(first, at: time(10_000)))
        #expect(origins.haveHTTP11(origin, at: time(10_000)))
        // Expired origins make room.
        origins.negotiated(first, isHTTP11: true, at: time(20_000))
        #expect(origins.haveHTTP11(first, at: time(20_000)))
        #expect(origins.haveHTTP11(origin, at: time(20_000)))
    }
}
