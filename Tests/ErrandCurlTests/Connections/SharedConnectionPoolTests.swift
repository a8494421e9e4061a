import ErrandTransport
import Testing

@testable import ErrandCurl

/// Connections that carry many requests at once.
struct SharedConnectionPoolTests {
    private typealias Pool = ConnectionPool<Int, String>

    private let key: ConnectionKey
    private let other: ConnectionKey
    private let now = MonotonicTime(nanoseconds: 0)
    private let later = MonotonicTime(nanoseconds: 1_000_000_000)

    init() throws {
        let url = try HTTPURL(parsing: "https://a/")
        var options = TransportOptions()
        key = ConnectionKey(url, options)
        options.addressFamily = .ipv4
        other = ConnectionKey(url, options)
    }

    private func pool(_ change: (inout Pool.Limits) -> Void = { _ in }) -> Pool {
        var limits = Pool.Limits()
        change(&limits)
        return Pool(limits: limits)
    }

    private func starts(_ pool: inout Pool) -> [String] {
        var starts: [String] = []
        while let start = pool.nextStart() {
            switch start {
            case .connect(_, let waiter, _): starts.append("connect for \(waiter)")
            case .close(let connection): starts.append("close \(connection)")
            }
        }
        return starts
    }

    private func wait(_ pool: inout Pool, _ count: Int) -> [Pool.Ticket] {
        (0..<count).map { pool.wait(key, for: "\($0)") }
    }

    /// Opens connection 1, which a request uses.
    private func open(_ pool: inout Pool) {
        _ = pool.wait(key, for: "first")
        #expect(starts(&pool) == ["connect for first"])
        pool.connectedShared(1, key, at: now)
        #expect(pool.nextWaiter(key) { $0 == 1 } == "first")
    }

    @Test func oneConnectShowsTheProtocol() {
        var pool = pool()
        _ = wait(&pool, 250)
        #expect(starts(&pool) == ["connect for 0"])
        pool.connectedShared(1, key, at: now)
        for number in 0..<100 { #expect(pool.nextWaiter(key) { $0 == 1 } == "\(number)") }
        // One more for each hundred that wait beyond the free places.
        #expect(starts(&pool) == ["connect for 100", "connect for 200"])
        pool.connectedShared(2, key, at: now)
        for number in 100..<200 { #expect(pool.nextWaiter(key) { $0 == 2 } == "\(number)") }
        #expect(starts(&pool) == [])
        pool.connectedShared(3, key, at: now)
        for number in 200..<250 { #expect(pool.nextWaiter(key) { $0 == 3 } == "\(number)") }
        #expect(pool.nextWaiter(key) { $0 == 3 } == nil)
        #expect(pool.count == 3 && pool.idle == 0 && pool.connecting == 0)
    }

    @Test func negotiatedHTTP11NeedsAConnectionForEach() {
        var pool = pool()
        _ = wait(&pool, 3)
        #expect(starts(&pool) == ["connect for 0"])
        #expect(pool.connected(1, key, at: now) == "0")
        #expect(starts(&pool) == ["connect for 1", "connect for 2"])
    }

    /// With prior knowledge nothing is unknown.
    @Test func priorKnowledgeIsShared() throws {
        var pool = pool()
        var options = TransportOptions()
        options.httpVersion = .http2PriorKnowledge
        let key = ConnectionKey(try HTTPURL(parsing: "http://a/"), options)
        for number in 0..<101 { _ = pool.wait(key, for: "\(number)") }
        #expect(starts(&pool) == ["connect for 0", "connect for 100"])
    }

    @Test func failedConnectFailsOneWaiterAndIsTriedForTheNext() {
        var pool = pool()
        let tickets = wait(&pool, 3)
        #expect(starts(&pool) == ["connect for 0"])
        #expect(pool.connectFailed(key) == "0")
        #expect(starts(&pool) == ["connect for 1"])
        #expect(pool.connectTimedOut(tickets[1], key) == "1")
        #expect(starts(&pool) == ["connect for 2"])
        #expect(pool.cancel(tickets[2], key) == "2")
        #expect(pool.abandonSurplusConnect(key) == true)
        #expect(pool.count == 0 && pool.connecting == 0)
    }

    @Test func openConnectionIsUsedWhileItHasPlaces() {
        var pool = pool()
        open(&pool)
        #expect(pool.reuse(key) { _ in true } == 1)
        #expect(pool.reuse(key) { _ in false } == nil)
        pool.removeShared(key) { $0 == 1 }
        #expect(pool.reuse(key) { _ in true } == nil)
        // It counts until it is closed.
        #expect(pool.count == 1)
        pool.closed(key)
        #expect(pool.count == 0)
    }

    @Test func idleConnectionExpires() {
        var pool = pool { $0.idleNanoseconds = 5 }
        open(&pool)
        #expect(pool.nextExpired(at: later) == nil && pool.nextExpiry == .never)
        pool.becameIdle(key, at: now) { $0 == 1 }
        pool.becameIdle(key, at: later) { $0 == 1 }
        #expect(pool.idle == 1 && pool.nextExpiry == MonotonicTime(nanoseconds: 5))
        #expect(pool.reuse(key) { _ in true } == 1)
        #expect(pool.idle == 0)
        pool.becameIdle(key, at: now) { $0 == 1 }
        #expect(pool.nextExpired(at: MonotonicTime(nanoseconds: 4)) == nil)
        #expect(pool.nextExpired(at: MonotonicTime(nanoseconds: 5)) == 1)
        #expect(pool.idle == 0 && pool.count == 0)
    }

    @Test func idleConnectionMakesRoomForAnotherKey() {
        var pool = pool { $0.perHost = 1 }
        open(&pool)
        _ = pool.wait(other, for: "other")
        #expect(starts(&pool) == [])
        pool.becameIdle(key, at: now) { $0 == 1 }
        #expect(starts(&pool) == ["close 1", "connect for other"])
    }

    /// A connection that always carries requests makes room after as many later ones as `patience` says.
    @Test(arguments: [false, true])
    func busyConnectionMakesRoomForAnotherKey(limitsTotal: Bool) {
        var pool = pool {
            $0.patience = 2
            if limitsTotal { $0.total = 1 } else { $0.perHost = 1 }
        }
        open(&pool)
        _ = pool.wait(other, for: "other")
        for _ in 0..<2 { #expect(pool.reuse(key) { _ in true } == 1) }
        #expect(pool.reuse(key) { _ in true } == nil)
        _ = pool.wait(key, for: "later")
        #expect(pool.nextWaiter(key) { $0 == 1 } == nil)
        pool.becameIdle(key, at: now) { $0 == 1 }
        #expect(starts(&pool) == ["close 1", "connect for other"])
    }

    /// Requests that demand a version use the connections on which it was negotiated.
    @Test func relatedKeysShareOpenConnections() throws {
        func key(_ version: TransportOptions.HTTPVersionPolicy) throws -> ConnectionKey {
            var options = TransportOptions()
            options.httpVersion = version
            return ConnectionKey(try HTTPURL(parsing: "https://a/"), options)
        }
        var pool = pool()
        open(&pool)
        #expect(pool.reuse(try key(.http2)) { _ in true } == 1)
        #expect(pool.reuse(try key(.http11)) { _ in true } == nil)
        var plain = self.pool()
        _ = plain.wait(try key(.automatic), for: "a")
        #expect(starts(&plain) == ["connect for a"])
        #expect(plain.connected(7, try key(.automatic), at: now) == "a")
        #expect(plain.release(7, try key(.automatic), at: now) == nil)
        #expect(plain.reuse(try key(.http2)) { _ in true } == nil)
        #expect(plain.reuse(try key(.http11)) { _ in true } == 7)
    }

    @Test func formerHTTP11ConnectionsAreFound() {
        var pool = pool()
        #expect(pool.opened(3, key, at: now) == nil)
        #expect(pool.nextIdleExclusive { $0.version == .http11 } == nil)
        #expect(pool.nextIdleExclusive { $0.host == key.host } == 3)
        #expect(pool.nextIdleExclusive { $0.host == key.host } == nil)
        #expect(pool.count == 0)
    }

    @Test func waitersThatNoConnectionCanServeAreRemoved() {
        var pool = pool()
        _ = wait(&pool, 3)
        #expect(starts(&pool) == ["connect for 0"])
        #expect(pool.removeWaiters(key) == ["0", "1", "2"])
        pool.connectClosed(key)
        #expect(pool.count == 0 && pool.connecting == 0 && !pool.hasWaiters)
        #expect(starts(&pool) == [])
    }
}
