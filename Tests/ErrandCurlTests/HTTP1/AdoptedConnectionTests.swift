import ErrandTransport
import Testing

@testable import ErrandCurl

/// Connections that another path has opened become part of the pool.
struct AdoptedConnectionTests {
    private typealias Pool = ConnectionPool<Int, String>

    private let now = MonotonicTime(nanoseconds: 1)

    private func key(_ url: String) throws -> ConnectionKey {
        ConnectionKey(try HTTPURL(parsing: url), TransportOptions())
    }

    @Test func adoptedConnectionCountsAndServesAWaiter() throws {
        var limits = Pool.Limits()
        limits.perHost = 1
        var pool = Pool(limits: limits)
        let key = try key("https://a/")
        #expect(pool.adopted(1, key, at: now) == nil)
        #expect(pool.count == 1 && pool.idle == 1)
        #expect(pool.reuse(key) == 1)
        _ = pool.wait(key, for: "a")
        // The place of the host is taken.
        let starts = pool.nextStart() != nil
        #expect(!starts)
        #expect(pool.adopted(2, key, at: now) == "a")
        #expect(pool.count == 2 && pool.idle == 0)
    }

    @Test func idleConnectionsToAHostAreFound() throws {
        var pool = Pool()
        let keys = try [key("http://a/"), key("https://a:80/"), key("http://b/")]
        for (number, key) in keys.enumerated() {
            #expect(pool.adopted(number, key, at: now) == nil)
        }
        #expect(pool.nextIdle(to: keys[0].host) == 0)
        #expect(pool.nextIdle(to: keys[0].host) == 1)
        #expect(pool.nextIdle(to: keys[0].host) == nil)
        #expect(pool.idle == 1 && pool.count == 1)
    }
}
