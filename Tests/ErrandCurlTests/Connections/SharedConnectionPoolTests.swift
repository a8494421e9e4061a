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

    /// The server is known after its last connection, also if requests with other keys came in between.
    @Test func negotiatedHTTP11IsRemembered() {
        var pool = pool()
        _ = wait(&pool, 1)
        #expect(starts(&pool).count == 1)
        #expect(pool.connected(1, key, at: now) == "0")
        pool.closed(key)
        _ = pool.wait(other, for: "other")
        #expect(starts(&pool) == ["connect for other"])
        _ = wait(&pool, 3)
        #expect(starts(&pool) == ["connect for 0", "connect for 1", "connect for 2"])
        // The server has changed its protocol.
        pool.connectedShared(2, key, at: now)
        #expect(pool.nextWaiter(key) { $0 == 2 } == "0")
    }

    /// A new line takes the place of the one that was used longest ago.
    @Test func fewLinesAreRemembered() throws {
        var pool = pool()
        func key(_ number: Int) throws -> ConnectionKey {
            ConnectionKey(try HTTPURL(parsing: "https://host-\(number)/"), TransportOptions())
        }
        func use(_ number: Int) throws {
            pool.continueStarts()
            _ = pool.wait(try key(number), for: "use")
            #expect(starts(&pool) == ["connect for use"])
            #expect(pool.connected(number, try key(number), at: now) == "use")
            pool.closed(try key(number))
        }
        for number in 0...8 { try use(number) }
        for number in [0, 8] {
            for _ in 0..<2 { _ = pool.wait(try key(number), for: "\(number)") }
        }
        pool.continueStarts()
        // The first line was taken by the last key.
        #expect(starts(&pool) == ["connect for 0", "connect for 8", "connect for 8"])
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

    /// Later requests did not wait for it.
    @Test func failedConnectFailsThoseThatWaitedForIt() {
        var pool = pool()
        _ = wait(&pool, 3)
        #expect(starts(&pool) == ["connect for 0"])
        let late = pool.wait(key, for: "late")
        #expect(pool.connectFailed(key) == ["0", "1", "2"])
        #expect(starts(&pool) == ["connect for late"])
        #expect(pool.cancel(late, key) == "late")
        #expect(pool.abandonSurplusConnect(key) == true)
        #expect(pool.count == 0 && pool.connecting == 0)
    }

    /// Each failed connect fails as many as it would have carried.
    @Test func failedConnectsOfASharedLineFailAll() throws {
        var pool = pool()
        var options = TransportOptions()
        options.httpVersion = .http2PriorKnowledge
        let key = ConnectionKey(try HTTPURL(parsing: "http://a/"), options)
        for number in 0..<150 { _ = pool.wait(key, for: "\(number)") }
        #expect(starts(&pool) == ["connect for 0", "connect for 100"])
        #expect(pool.connectFailed(key) == (0..<50).map { "\($0)" })
        #expect(starts(&pool) == [])
        #expect(pool.connectFailed(key) == (50..<150).map { "\($0)" })
        #expect(starts(&pool) == [] && pool.count == 0 && !pool.hasWaiters)
    }

    @Test func timedOutConnectFailsOneWaiterAndIsTriedForTheNext() {
        var pool = pool()
        let tickets = wait(&pool, 3)
        #expect(starts(&pool) == ["connect for 0"])
        #expect(pool.connectTimedOut(tickets[0], key) == "0")
        #expect(starts(&pool) == ["connect for 1"])
        #expect(pool.connectTimedOut(tickets[1], key) == "1")
        #expect(starts(&pool) == ["connect for 2"])
        #expect(pool.cancel(tickets[2], key) == "2")
        #expect(pool.abandonSurplusConnect(key) == true)
        #expect(pool.count == 0 && pool.connecting == 0)
    }

    /// The open connection will carry the waiters; another connect starts when it has accepted one, or is gone.
    @Test(arguments: [false, true])
    func failedConnectBesideAnOpenConnectionFailsNoRequest(hasTimedOut: Bool) {
        var pool = pool()
        open(&pool)
        let tickets = wait(&pool, 3)
        func fail(_ ticket: Pool.Ticket) {
            if hasTimedOut {
                #expect(pool.connectTimedOut(ticket, key) == nil)
            } else {
                #expect(pool.connectFailed(key) == [])
            }
        }
        #expect(starts(&pool) == ["connect for 0"])
        fail(tickets[0])
        #expect(starts(&pool) == [] && pool.count == 1 && pool.connecting == 0)
        _ = pool.wait(key, for: "late")
        #expect(starts(&pool) == [])
        #expect(pool.nextWaiter(key) { $0 == 1 } == "0")
        #expect(starts(&pool) == ["connect for 1"])
        fail(tickets[1])
        #expect(starts(&pool) == [])
        pool.closedShared(key) { $0 == 1 }
        #expect(starts(&pool) == ["connect for 1"])
        #expect(pool.connectFailed(key) == ["1", "2", "late"])
        #expect(starts(&pool) == [] && pool.count == 0)
    }

    /// A server that speaks HTTP/1.1 now gets a connection for each request, whatever an earlier one carries.
    @Test func failedConnectBesideAFormerSharedConnectionIsNotRepeatedWithoutEnd() {
        var pool = pool()
        open(&pool)
        _ = wait(&pool, 2)
        #expect(starts(&pool) == ["connect for 0"])
        #expect(pool.connected(2, key, at: now) == "0")
        #expect(starts(&pool) == ["connect for 1"])
        #expect(pool.connectFailed(key) == ["1"])
        #expect(starts(&pool) == [])
    }

    /// It is as if it could not be opened: the next one would probably end too.
    @Test func connectionThatEndsUnusedFailsThoseThatWaitedForIt() {
        var pool = pool()
        _ = wait(&pool, 3)
        #expect(starts(&pool) == ["connect for 0"])
        pool.connectedShared(1, key, at: now)
        _ = pool.wait(key, for: "late")
        #expect(pool.closedUnused(key) { $0 == 1 } == ["0", "1", "2"])
        #expect(pool.count == 0 && pool.idle == 0)
        #expect(starts(&pool) == ["connect for late"])
        #expect(pool.connectFailed(key) == ["late"])
        #expect(pool.count == 0 && pool.connecting == 0 && starts(&pool) == [])
    }

    // MARK: - Limits

    @Test func limitOfTheServerIsExpectedOfNewConnections() {
        var pool = pool()
        #expect(pool.requestsPerConnection(key) == 100)
        open(&pool)
        pool.noteLimit(10, key)
        #expect(pool.requestsPerConnection(key) == 10)
        _ = wait(&pool, 25)
        #expect(starts(&pool) == ["connect for 0", "connect for 10", "connect for 20"])
        // No more than a client may send before the server names its limit.
        pool.noteLimit(1000, key)
        #expect(pool.requestsPerConnection(key) == 100)
        // A lower one than before needs more connections.
        pool.noteLimit(5, key)
        #expect(starts(&pool) == ["connect for 15", "connect for 20"])
    }

    /// Another connection would carry nothing either.
    @Test func serverThatAcceptsNothingGetsNoFurtherConnection() {
        var pool = pool()
        open(&pool)
        pool.becameIdle(key, at: now) { $0 == 1 }
        pool.noteLimit(0, key)
        #expect(pool.requestsPerConnection(key) == 1)
        _ = wait(&pool, 2)
        #expect(starts(&pool) == [])
        pool.noteLimit(1, key)
        #expect(starts(&pool) == ["connect for 0", "connect for 1"])
        pool.noteLimit(0, key)
        // Without a connection, one shows whether that has changed.
        pool.connectClosed(key)
        pool.connectClosed(key)
        pool.closedShared(key) { $0 == 1 }
        #expect(starts(&pool) == ["connect for 0", "connect for 1"])
    }

    @Test func newRequestDoesNotOvertakeAWaitingOne() {
        var pool = pool()
        open(&pool)
        let ticket = pool.wait(key, for: "waiting")
        #expect(pool.reuse(key) { _ in true } == nil)
        #expect(pool.cancel(ticket, key) == "waiting")
        #expect(pool.reuse(key) { _ in true } == 1)
    }

    /// A connection that accepts no requests does not count for its host, but for the total.
    @Test func drainingConnectionLetsAnotherBeOpened() {
        var pool = pool {
            $0.perHost = 1
            $0.total = 2
        }
        open(&pool)
        _ = pool.wait(key, for: "second")
        #expect(starts(&pool) == [])
        pool.removeShared(key) { $0 == 1 }
        pool.removeShared(key) { $0 == 1 }
        #expect(starts(&pool) == ["connect for second"])
        pool.connectedShared(2, key, at: now)
        #expect(pool.nextWaiter(key) { $0 == 2 } == "second")
        pool.removeShared(key) { $0 == 2 }
        _ = pool.wait(other, for: "third")
        #expect(starts(&pool) == [] && pool.count == 2)
        pool.closedShared(key) { $0 == 1 }
        #expect(starts(&pool) == ["connect for third"])
        pool.closedShared(key) { $0 == 2 }
        #expect(pool.count == 1)
        _ = pool.wait(key, for: "fourth")
        #expect(starts(&pool) == [])
    }

    // MARK: - Connections

    @Test func openConnectionIsUsedWhileItHasPlaces() {
        var pool = pool()
        open(&pool)
        #expect(pool.reuse(key) { _ in true } == 1)
        #expect(pool.reuse(key) { _ in false } == nil)
        pool.removeShared(key) { $0 == 1 }
        #expect(pool.reuse(key) { _ in true } == nil)
        // It counts until it is closed.
        #expect(pool.count == 1)
        pool.closedShared(key) { $0 == 1 }
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
