import ErrandTesting
import ErrandTransport
import TestSupport
import Testing

@testable import ErrandCurl

/// A connect that ends at its time limit fails only the request for which it was started.
@Suite(.limited)
struct ConnectLimitTests {
    private typealias Pool = ConnectionPool<Int, String>

    private let now = MonotonicTime(nanoseconds: 1)

    private func key() throws -> ConnectionKey {
        ConnectionKey(try HTTPURL(parsing: "http://a/"), TransportOptions())
    }

    /// The request for which the next connect starts.
    private func start(_ pool: inout Pool) -> String? {
        guard case .connect(_, let waiter, _)? = pool.nextStart() else { return nil }
        return waiter
    }

    @Test func requestThatTakesAConnectOverGetsAnother() throws {
        var pool = Pool(limits: .init(perHost: 1))
        let key = try key()
        let (first, second) = (pool.wait(key, for: "a"), pool.wait(key, for: "b"))
        #expect(start(&pool) == "a" && start(&pool) == nil)
        // The limit of the first request passes, and its connect is kept for the second one.
        #expect(pool.cancel(first, key) == "a")
        #expect(pool.abandonSurplusConnect(key) == false)
        #expect(pool.connectTimedOut(first, key) == nil)
        #expect(pool.hasWaiters && pool.count == 0 && pool.connecting == 0)
        #expect(start(&pool) == "b" && start(&pool) == nil)
        #expect(pool.connecting == 1)
        #expect(pool.connectTimedOut(second, key) == "b")
        #expect(start(&pool) == nil)
        #expect(!pool.hasWaiters && pool.count == 0 && pool.connecting == 0)
    }

    @Test func earlierRequestWithALongerLimitDoesNotFail() throws {
        var pool = Pool()
        let key = try key()
        _ = pool.wait(key, for: "a")
        let second = pool.wait(key, for: "b")
        #expect(start(&pool) == "a" && start(&pool) == "b")
        #expect(pool.connectTimedOut(second, key) == "b")
        #expect(start(&pool) == nil)
        #expect(pool.connected(1, key, at: now) == "a")
    }

    @Test func requestWithAnotherConnectInProgressDoesNotFail() throws {
        var pool = Pool()
        let key = try key()
        #expect(pool.opened(1, key, at: now) == nil)
        #expect(pool.reuse(key) == 1)
        _ = pool.wait(key, for: "a")
        let second = pool.wait(key, for: "b")
        #expect(start(&pool) == "a" && start(&pool) == "b")
        #expect(pool.release(1, key, at: now) == "a")
        #expect(pool.connectTimedOut(second, key) == nil)
        #expect(start(&pool) == nil)
        #expect(pool.connected(2, key, at: now) == "b")
    }

    /// The second request takes over the connect of the first one, whose limit has passed.
    @Test func requestDoesNotInheritALimit() async throws {
        let silent = try DeadPort.Silent()
        let transport = CurlTransport { $0.connectionsPerHost = 1 }
        let limits: [Duration] = [.milliseconds(100), .milliseconds(1500)]
        let receivers = limits.map { _ in RecordingReceiver() }
        for (limit, receiver) in zip(limits, receivers) {
            var request = TransportRequest(url: try .test("http://127.0.0.1:\(silent.port)/"))
            request.timeouts = Timeouts(connect: limit)
            _ = transport.start(request, receiver: receiver)
        }
        for receiver in receivers {
            let record = try await receiver.ended()
            #expect(record.error?.timeout == .connect, "\(record.errorText)")
        }
        let took = try #require(receivers[1].record.end?.timings.finished)
        #expect(took >= limits[1])
        withExtendedLifetime(silent) {}
    }
}
