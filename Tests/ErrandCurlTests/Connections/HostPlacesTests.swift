import ErrandTransport
import Testing

@testable import ErrandCurl

/// Requests with several keys to one host, whose number of connections is limited.
struct HostPlacesTests {
    private typealias Pool = ConnectionPool<Int, String>

    private let busy: ConnectionKey
    private let other: ConnectionKey
    private let now = MonotonicTime(nanoseconds: 0)

    init() throws {
        let url = try HTTPURL(parsing: "http://a/")
        var options = TransportOptions()
        busy = ConnectionKey(url, options)
        options.addressFamily = .ipv4
        other = ConnectionKey(url, options)
    }

    private func pool(
        perHost: Int, patience: Int, change: (inout Pool.Limits) -> Void = { _ in }
    ) -> Pool {
        var limits = Pool.Limits()
        (limits.perHost, limits.patience) = (perHost, patience)
        change(&limits)
        return Pool(limits: limits)
    }

    /// The next start as text.
    private func start(_ pool: inout Pool) -> String? {
        switch pool.nextStart() {
        case nil: nil
        case .connect(let key, let waiter, _):
            "connect \(key == busy ? "busy" : "other") for \(waiter)"
        case .close(let connection): "close \(connection)"
        }
    }

    /// Opens connection 1, which a request of the first key uses.
    private func openFirst(_ pool: inout Pool) {
        _ = pool.wait(busy, for: "first")
        #expect(start(&pool) == "connect busy for first")
        #expect(pool.connected(1, busy, at: now) == "first")
    }

    /// One place, which requests of one key take one after another while a request of another key waits; the argument
    /// is the number of later requests that are served before it.
    @Test(arguments: [0, 3, 16])
    func earlierRequestWithAnotherKeyGetsAPlace(patience: Int) throws {
        var pool = pool(perHost: 1, patience: patience)
        openFirst(&pool)
        _ = pool.wait(other, for: "other")
        for number in 0..<patience {
            _ = pool.wait(busy, for: "\(number)")
            pool.continueStarts()
            #expect(start(&pool) == nil)
            #expect(pool.release(1, busy, at: now) == "\(number)")
        }
        _ = pool.wait(busy, for: "last")
        #expect(pool.release(1, busy, at: now) == nil)
        #expect(start(&pool) == "close 1")
        #expect(start(&pool) == "connect other for other")
        #expect(start(&pool) == nil)
        #expect(pool.connected(2, other, at: now) == "other")
        // The first key's request has waited longest now.
        #expect(pool.release(2, other, at: now) == nil)
        #expect(start(&pool) == "close 2")
        #expect(start(&pool) == "connect busy for last")
    }

    @Test(arguments: [2, .max])
    func connectionIsKeptWhileThePlacesSuffice(perHost: Int) throws {
        var pool = pool(perHost: perHost, patience: 0)
        openFirst(&pool)
        _ = pool.wait(other, for: "other")
        _ = pool.wait(busy, for: "second")
        #expect(pool.release(1, busy, at: now) == "second")
    }

    /// A request for which a connection is in progress needs no place of another one.
    @Test func requestWithAConnectInProgressWaitsForIt() throws {
        var pool = pool(perHost: 2, patience: 0)
        _ = pool.wait(busy, for: "first")
        _ = pool.wait(other, for: "other")
        #expect(start(&pool) == "connect busy for first")
        #expect(start(&pool) == "connect other for other")
        #expect(pool.connected(1, busy, at: now) == "first")
        _ = pool.wait(busy, for: "second")
        #expect(pool.release(1, busy, at: now) == "second")
    }

    /// Only requests that get a connection to the host count, not those that wait for other hosts.
    @Test func requestsToOtherHostsDoNotCount() throws {
        var pool = pool(perHost: 1, patience: 2)
        openFirst(&pool)
        _ = pool.wait(other, for: "other")
        let elsewhere = ConnectionKey(try HTTPURL(parsing: "http://b/"), TransportOptions())
        for number in 0..<20 { _ = pool.wait(elsewhere, for: "elsewhere \(number)") }
        _ = pool.wait(busy, for: "second")
        #expect(pool.release(1, busy, at: now) == "second")
    }

    /// A place is not given up for a key that may not start another connect.
    @Test func keyWithAllItsConnectsInProgressGetsNoPlace() throws {
        var pool = pool(perHost: 2, patience: 0) { $0.connecting = 1 }
        openFirst(&pool)
        for waiter in ["other", "another"] { _ = pool.wait(other, for: waiter) }
        #expect(start(&pool) == "connect other for other")
        _ = pool.wait(busy, for: "second")
        #expect(pool.release(1, busy, at: now) == "second")
    }

    /// A place is not given up before a connect may start in it.
    @Test func placeIsKeptWhileNoConnectMayStart() throws {
        var pool = pool(perHost: 1, patience: 0) { $0.startsAtOnce = 1 }
        openFirst(&pool)
        _ = pool.wait(other, for: "other")
        for waiter in ["second", "third"] { _ = pool.wait(busy, for: waiter) }
        #expect(pool.release(1, busy, at: now) == "second")
        pool.continueStarts()
        #expect(pool.release(1, busy, at: now) == nil)
        #expect(start(&pool) == "close 1")
        #expect(start(&pool) == "connect other for other")
    }

    /// A connection that makes room is followed by one for the request that could have used it, also if the request
    /// with the other key waits no more.
    @Test func connectionThatMadeRoomIsNotForgotten() throws {
        var pool = pool(perHost: 1, patience: 0) { $0.startsAtOnce = 2 }
        let cancelled = pool.wait(busy, for: "cancelled")
        #expect(start(&pool) == "connect busy for cancelled")
        let ticket = pool.wait(other, for: "other")
        _ = pool.wait(busy, for: "second")
        #expect(pool.cancel(cancelled, busy) == "cancelled")
        #expect(pool.connected(1, busy, at: now) == nil)
        #expect(pool.cancel(ticket, other) == "other")
        #expect(start(&pool) == "close 1")
        #expect(start(&pool) == "connect busy for second")
    }
}
