import ErrandTransport
import TestSupport
import Testing

@testable import ErrandCurl

/// Connections are shared fairly and within the limits.
struct ConnectionPoolTests {
    private typealias Pool = ConnectionPool<Int, String>

    private func key(
        _ url: String = "http://a/", change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> ConnectionKey {
        var options = TransportOptions()
        change(&options)
        return ConnectionKey(try HTTPURL(parsing: url), options)
    }

    private func pool(_ change: (inout Pool.Limits) -> Void = { _ in }) -> Pool {
        var limits = Pool.Limits()
        change(&limits)
        return Pool(limits: limits)
    }

    private func seconds(_ seconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    /// The next start as text.
    private func start(_ pool: inout Pool) -> String? {
        switch pool.nextStart() {
        case nil: nil
        case .connect(let key, _, _): "connect \(key.host.name)"
        case .close(let connection): "close \(connection)"
        }
    }

    @discardableResult
    private func wait(_ pool: inout Pool, _ key: ConnectionKey, _ waiter: String) -> Pool.Ticket {
        #expect(pool.reuse(key) == nil)
        return pool.wait(key, for: waiter)
    }

    /// Opens idle connections with these numbers, one second after another.
    private func open(_ numbers: [Int], _ pool: inout Pool, _ key: ConnectionKey) {
        for number in numbers { wait(&pool, key, "\(number)") }
        while start(&pool) != nil {}
        for number in numbers { #expect(pool.connected(number, key, at: seconds(0)) != nil) }
        for number in numbers {
            #expect(pool.release(number, key, at: seconds(UInt64(number))) == nil)
        }
    }

    /// Equal keys of several requests are one object, except for keys with pins.
    @Test func requestsOfALineHaveItsKey() throws {
        var pool = pool()
        func key(
            _ url: String, requiresValidChain: Bool = true,
            change: (inout TransportOptions) -> Void = { _ in }
        ) throws -> ConnectionKey {
            var request = TransportRequest(url: try HTTPURL(parsing: url))
            change(&request.options)
            return pool.key(
                of: request, request.options, requiresValidChain: requiresValidChain)
        }
        let change: (inout TransportOptions) -> Void = { $0.maximumBodyBytes = 5 }
        let first = try key("https://a/", change: change)
        _ = pool.wait(first, for: "a")
        // With options of another storage, several times and in turns.
        for _ in 1...3 {
            #expect(try key("https://a/b", change: change) === first)
            #expect(try key("https://a/") === first)
            #expect(try key("https://a/c") === first)
        }
        #expect(try key("https://b/") != first)
        #expect(try key("http://a:443/") != first)
        #expect(try key("https://a:444/") != first)
        #expect(try key("https://a/", requiresValidChain: false) != first)
        #expect(try key("https://a/") { $0.proxy = .url("http://p:1") } != first)
        #expect(try key("https://a/") === first)

        let unpinned: (inout TransportOptions) -> Void = { $0.security = SecurityPolicy() }
        let pinned = try ConnectionPoolTests().key("https://c/") {
            unpinned(&$0)
            $0.security?.publicKeyPins = ["k"]
        }
        _ = pool.wait(pinned, for: "c")
        let other = try key("https://c/", change: unpinned)
        #expect(other == pinned && other !== pinned)
    }

    @Test func idleConnectionsAreUsedLastInFirstOut() throws {
        var pool = pool()
        let key = try key()
        open([1, 2, 3], &pool, key)
        #expect(pool.count == 3 && pool.idle == 3)
        #expect(pool.reuse(key) == 3)
        #expect(pool.reuse(key) == 2)
        #expect(pool.release(3, key, at: seconds(9)) == nil)
        #expect(pool.reuse(key) == 3)
        #expect(pool.idle == 1)
    }

    @Test func waitersAreServedInOrder() throws {
        var pool = pool { $0.perHost = 1 }
        let key = try key()
        for waiter in ["a", "b", "c"] { wait(&pool, key, waiter) }
        #expect(start(&pool) == "connect a" && start(&pool) == nil)
        #expect(pool.connected(1, key, at: seconds(0)) == "a")
        #expect(pool.release(1, key, at: seconds(0)) == "b")
        #expect(pool.release(1, key, at: seconds(0)) == "c")
        #expect(pool.release(1, key, at: seconds(0)) == nil)
        #expect(pool.idle == 1)
    }

    /// A connection that becomes free first serves the request for which another is being opened.
    @Test func freeConnectionServesFirstInLine() throws {
        var pool = pool()
        let key = try key()
        open([1], &pool, key)
        #expect(pool.reuse(key) == 1)
        wait(&pool, key, "a")
        #expect(start(&pool) == "connect a" && start(&pool) == nil)
        #expect(pool.release(1, key, at: seconds(5)) == "a")
        #expect(pool.connected(2, key, at: seconds(6)) == nil)
        #expect(pool.idle == 1 && pool.count == 2)
    }

    @Test func eachFailedConnectFailsOneWaiter() throws {
        var pool = pool { $0.connecting = 1 }
        let key = try key()
        for waiter in ["a", "b"] { wait(&pool, key, waiter) }
        #expect(start(&pool) == "connect a" && start(&pool) == nil)
        #expect(pool.connectFailed(key) == ["a"])
        #expect(start(&pool) == "connect a")
        #expect(pool.connectFailed(key) == ["b"])
        #expect(start(&pool) == nil && pool.count == 0 && pool.connecting == 0)
    }

    @Test func connectsStartInGroups() throws {
        var pool = pool { ($0.connecting, $0.startsAtOnce) = (3, 2) }
        for waiter in ["a", "b", "c", "d"] { wait(&pool, try key(), waiter) }
        #expect(start(&pool) != nil && start(&pool) != nil && start(&pool) == nil)
        #expect(pool.hasDeferredStarts)
        pool.continueStarts()
        #expect(start(&pool) != nil && start(&pool) == nil && pool.connecting == 3)
        #expect(!pool.hasDeferredStarts)
    }

    @Test func cancelledWaiterIsSkipped() throws {
        var pool = pool()
        let key = try key()
        let first = wait(&pool, key, "a")
        wait(&pool, key, "b")
        #expect(pool.cancel(first, key) == "a")
        #expect(pool.cancel(first, key) == nil)
        #expect(start(&pool) == "connect a" && start(&pool) == nil)
        #expect(pool.connected(1, key, at: seconds(0)) == "b")
    }

    /// A connect whose request was cancelled serves the next one.
    @Test func connectInProgressIsKept() throws {
        var pool = pool()
        let key = try key()
        let ticket = wait(&pool, key, "a")
        #expect(start(&pool) == "connect a")
        #expect(pool.cancel(ticket, key) == "a")
        wait(&pool, key, "b")
        #expect(start(&pool) == nil)
        #expect(pool.connected(1, key, at: seconds(0)) == "b")
    }

    /// The connect of a cancelled request is abandoned, unless another request waits for it.
    @Test func surplusConnectIsAbandoned() throws {
        var pool = pool()
        let key = try key()
        let tickets = ["a", "b"].map { wait(&pool, key, $0) }
        while start(&pool) != nil {}
        #expect(pool.connecting == 2)
        #expect(pool.abandonSurplusConnect(key) == false)
        #expect(pool.cancel(tickets[0], key) == "a")
        #expect(pool.abandonSurplusConnect(key) == true)
        #expect(pool.abandonSurplusConnect(key) == false)
        #expect(pool.connecting == 1 && pool.count == 1)
        #expect(pool.connected(1, key, at: seconds(0)) == "b")
    }

    @Test func totalLimitReplacesOldestIdleConnection() throws {
        var pool = pool { $0.total = 2 }
        let (one, other) = (try key("http://a/"), try key("http://b/"))
        open([1, 2], &pool, one)
        wait(&pool, other, "x")
        #expect(start(&pool) == "close 1")
        #expect(start(&pool) == "connect b" && start(&pool) == nil)
        #expect(pool.count == 2)
        wait(&pool, other, "y")
        #expect(start(&pool) == "close 2")
        #expect(start(&pool) == "connect b")
        wait(&pool, other, "z")
        #expect(start(&pool) == nil)
    }

    @Test func hostLimitCountsAllOptions() throws {
        var pool = pool { $0.perHost = 1 }
        let (plain, ipv4) = (try key(), try key { $0.addressFamily = .ipv4 })
        open([1], &pool, plain)
        wait(&pool, ipv4, "x")
        #expect(start(&pool) == "close 1")
        #expect(start(&pool) == "connect a" && start(&pool) == nil)
        wait(&pool, plain, "y")
        #expect(start(&pool) == nil)
        #expect(pool.connected(2, ipv4, at: seconds(0)) == "x")
        pool.closed(ipv4)
        #expect(start(&pool) == "connect a")
    }

    /// A host at its limit does not hold up requests to others, and the oldest request is first.
    @Test func oldestRequestConnectsFirst() throws {
        var pool = pool {
            $0.total = 2
            $0.perHost = 1
        }
        let keys = try ["a", "b", "c"].map { try key("http://\($0)/") }
        wait(&pool, keys[0], "1")
        wait(&pool, keys[0], "2")
        wait(&pool, keys[2], "3")
        wait(&pool, keys[1], "4")
        #expect(start(&pool) == "connect a")
        #expect(start(&pool) == "connect c")
        #expect(start(&pool) == nil)
        #expect(pool.connectFailed(keys[2]) == ["3"])
        #expect(start(&pool) == "connect b")
    }

    @Test func idleConnectionsExpire() throws {
        var pool = pool { $0.idleNanoseconds = 10_000_000_000 }
        #expect(pool.nextExpiry == .never)
        let (one, other) = (try key("http://a/"), try key("http://b/"))
        open([1, 3], &pool, one)
        open([2], &pool, other)
        #expect(pool.nextExpiry == seconds(11))
        #expect(pool.nextExpired(at: seconds(10)) == nil)
        #expect(pool.nextExpired(at: seconds(12)) == 1)
        #expect(pool.nextExpired(at: seconds(12)) == 2)
        #expect(pool.nextExpired(at: seconds(12)) == nil)
        #expect(pool.count == 1 && pool.reuse(one) == 3)
    }

    @Test func idleConnectionsAreLimited() throws {
        var pool = pool { $0.idle = 1 }
        let (one, other) = (try key("http://a/"), try key("http://b/"))
        open([1], &pool, one)
        open([2], &pool, other)
        #expect(pool.nextExpired(at: seconds(2)) == 1)
        #expect(pool.nextExpired(at: seconds(2)) == nil)
        #expect(pool.nextIdle() == 2)
        #expect(pool.nextIdle() == nil && pool.count == 0)
    }

    @Test func closedIdleConnectionIsRemoved() throws {
        var pool = pool()
        let key = try key()
        open([1, 2], &pool, key)
        #expect(pool.closedIdle(key) { $0 == 1 } == true)
        #expect(pool.closedIdle(key) { $0 == 1 } == false)
        #expect(pool.reuse(key) == 2)
        #expect(pool.closedIdle(key) { $0 == 2 } == false)
    }

    // MARK: - Keys

    @Test func keyComparesRoute() throws {
        let plain = try key()
        #expect(try plain == key("http://a:80/path?q"))
        #expect(try plain != key("http://b/"))
        #expect(try plain != key("http://a:81/"))
        #expect(try plain != key("https://a:80/"))
        #expect(try plain == key { $0.mayReplay = true })
        #expect(try plain == key { $0.maximumBodyBytes = 5 })
        #expect(try plain.hashValue == key { $0.maximumBodyBytes = 5 }.hashValue)
        #expect(try plain == key { $0.security = SecurityPolicy() })
        let secure = try key("https://a/")
        let changes: [(inout TransportOptions) -> Void] = [
            { $0.addressFamily = .ipv6 }, { $0.addressOverrides = ["a": ["127.0.0.1"]] },
            { $0.unixSocketPath = "/s" }, { $0.security = SecurityPolicy() },
        ]
        for change in changes {
            #expect(try secure != key("https://a/", change: change))
            #expect(try key("https://a/", change: change) == key("https://a/", change: change))
        }
    }

    /// A host that cannot be reached does not use up the connects of other hosts.
    @Test func connectsInProgressAreLimitedForEachKey() throws {
        var pool = pool { $0.connecting = 2 }
        let (dead, other) = (try key("http://dead/"), try key("http://a/"))
        for number in 0..<5 { wait(&pool, dead, "\(number)") }
        #expect(start(&pool) == "connect dead" && start(&pool) == "connect dead")
        #expect(start(&pool) == nil)
        wait(&pool, other, "x")
        #expect(start(&pool) == "connect a" && start(&pool) == nil)
    }

    /// The first request was served by another connection, so its failed connect fails no request
    /// that has a connect of its own.
    @Test func failedConnectWithoutNeedFailsNoRequest() throws {
        var pool = pool()
        let key = try key()
        open([1], &pool, key)
        #expect(pool.reuse(key) == 1)
        for waiter in ["a", "b"] { wait(&pool, key, waiter) }
        while start(&pool) != nil {}
        #expect(pool.release(1, key, at: seconds(3)) == "a")
        #expect(pool.connectFailed(key) == [])
        #expect(pool.connected(2, key, at: seconds(4)) == "b")
    }

    /// Waiters that were served or cancelled are released.
    @Test func endedWaitersAreReleased() throws {
        final class Waiter {}
        var pool = ConnectionPool<Int, Waiter>(limits: .init(perHost: 1))
        let key = try key()
        weak var served: Waiter?
        weak var cancelled: Waiter?
        do {
            let (first, second) = (Waiter(), Waiter())
            (served, cancelled) = (first, second)
            _ = pool.wait(key, for: first)
            let ticket = pool.wait(key, for: second)
            while pool.nextStart() != nil {}
            #expect(pool.connected(1, key, at: seconds(0)) === first)
            #expect(pool.cancel(ticket, key) === second)
        }
        #expect(served == nil && cancelled == nil)
    }

    // MARK: - Random operations

    /// A pool and a simple model of it: the numbers always agree, limits hold, and the request that
    /// has waited longest is served first.
    @Test(arguments: 0..<10)
    func randomOperationsKeepLimitsAndOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let group = seed.isMultiple(of: 2) ? 1 : 6
        var pool = ConnectionPool<Int, Int>(
            limits: .init(total: 6, perHost: 3, idle: 2, connecting: 2, startsAtOnce: group))
        let keys = try ["a", "b", "c"].map { try key("http://\($0)/") }
        var waiting: [[(ticket: UInt64, number: Int)]] = [[], [], []]
        var connecting = [0, 0, 0]
        var (idle, used): ([[Int]], [[Int]]) = ([[], [], []], [[], [], []])
        var (number, now) = (0, MonotonicTime(nanoseconds: 0))
        func serve(_ waiter: Int?, _ connection: Int?, _ index: Int) {
            #expect(waiter == waiting[index].first?.number)
            if waiter != nil { waiting[index].removeFirst() }
            guard let connection else { return }
            if waiter != nil {
                used[index].append(connection)
            } else {
                idle[index].append(connection)
            }
        }
        for _ in 0..<3000 {
            number += 1
            now = now.advanced(nanoseconds: 1)
            let index = Int.random(in: 0..<3, using: &random)
            let key = keys[index]
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2:
                let expected = idle[index].popLast()
                #expect(pool.reuse(key) == expected)
                if let expected {
                    used[index].append(expected)
                } else {
                    waiting[index].append((pool.wait(key, for: number), number))
                }
            case 3 where connecting[index] > 0:
                connecting[index] -= 1
                serve(pool.connected(number, key, at: now), number, index)
            case 4 where connecting[index] > 0:
                connecting[index] -= 1
                let failed = pool.connectFailed(key)
                #expect(failed.isEmpty == (waiting[index].count <= connecting[index]))
                #expect(failed.count <= 1)
                if let failed = failed.first { serve(failed, nil, index) }
            case 5 where !used[index].isEmpty:
                let connection = used[index].removeFirst()
                serve(pool.release(connection, key, at: now), connection, index)
            case 6 where !used[index].isEmpty:
                used[index].removeLast()
                pool.closed(key)
            case 7:
                if let (ticket, waiter) = waiting[index].randomElement(using: &random) {
                    #expect(pool.cancel(ticket, key) == waiter)
                    waiting[index].removeAll { $0.ticket == ticket }
                    if pool.abandonSurplusConnect(key) {
                        connecting[index] -= 1
                        #expect(waiting[index].count <= connecting[index])
                    }
                }
                if let connection = idle[index].randomElement(using: &random) {
                    #expect(pool.closedIdle(key) { $0 == connection } == true)
                    idle[index].removeAll { $0 == connection }
                }
            default: break
            }
            func removeIdle(_ connection: Int) {
                let owner = idle.firstIndex { $0.contains(connection) }
                #expect(owner.map { idle[$0].first } == connection)
                if let owner { idle[owner].removeFirst() }
            }
            pool.continueStarts()
            while let start = pool.nextStart() {
                switch start {
                case .close(let connection): removeIdle(connection)
                case .connect(let key, let waiter, let ticket):
                    let index = try #require(keys.firstIndex(of: key))
                    // Each connect is started for another request.
                    let first = waiting[index][connecting[index]]
                    #expect(first.number == waiter && first.ticket == ticket)
                    connecting[index] += 1
                    #expect(waiting[index].count >= connecting[index])
                }
            }
            while let connection = pool.nextExpired(at: now) { removeIdle(connection) }
            let open = idle.joined().count + used.joined().count
            #expect(pool.count == open + connecting.reduce(0, +) && pool.count <= 6)
            #expect(pool.idle == idle.joined().count && pool.idle <= 2)
            #expect(pool.connecting == connecting.reduce(0, +))
            #expect(connecting.allSatisfy { $0 <= 2 })
            for index in 0..<3 {
                #expect(idle[index].count + used[index].count + connecting[index] <= 3)
                // No request waits while a connection could be opened for it.
                let isBlocked =
                    pool.count == 6 || connecting[index] == 2 || pool.hasDeferredStarts
                    || idle[index].count + used[index].count + connecting[index] == 3
                #expect(waiting[index].count <= connecting[index] || isBlocked)
            }
        }
    }
}
