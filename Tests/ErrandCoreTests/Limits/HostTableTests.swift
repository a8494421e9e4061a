import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

@Suite struct HostTableTests {
    private func count(_ table: inout HostTable<Int>, _ host: String, _ change: Int = 1) {
        table.update(host, new: 0, isIdle: { $0 == 0 }) { $0 += change }
    }

    @Test func idleEntriesAreNotKept() {
        var table = HostTable<Int>()
        count(&table, "a")
        count(&table, "b", 0)
        #expect(table.count == 1)
        count(&table, "a", -1)
        #expect(table.count == 0)
    }

    @Test func leastRecentlyUsedHostIsEvictedFirst() {
        var table = HostTable<Int>(capacity: 3)
        for host in ["a", "b", "c"] { count(&table, host) }
        _ = table.value(for: "a")
        count(&table, "d")
        let left = ["a", "b", "c", "d"].map { table.value(for: $0) }
        #expect(left == [1, nil, 1, 1])
    }

    @Test func entriesThatBecomeIdleAreRemoved() {
        var now = 0
        var table = HostTable<Int>()
        for host in 0..<100_000 {
            now += 1
            table.update("\(host)", new: 0, isIdle: { $0 + 10 < now }) { $0 = now }
            #expect(table.count <= 200)
        }
    }

    @Test func rateLimiterForgetsHostsWithAFullBucket() {
        let rateLimiter = RateLimiter()
        let limit = RateLimit(requests: 1, per: .seconds(1))
        for host in 0..<10_000 {
            _ = rateLimiter.reserve("\(host)", limit: limit, now: .milliseconds(100 * host))
        }
        #expect(rateLimiter.count <= 200)
    }

    @Test func rateLimiterKeepsHostsWithAnActivePause() {
        let rateLimiter = RateLimiter()
        let refusal = RateLimitHeaders(
            status: 429, headers: [.retryAfter: "200"], now: Date())
        rateLimiter.learn(refusal, of: "busy", now: .zero)
        let limit = RateLimit(requests: 1, per: .seconds(1))
        for host in 0..<1000 {
            _ = rateLimiter.reserve("\(host)", limit: limit, now: .milliseconds(100 * host))
        }
        #expect(rateLimiter.reserve("busy", limit: nil, now: .seconds(100)) == .seconds(100))
    }

    @Test func hostHealthForgetsHealthyHosts() {
        let hostHealth = HostHealth()
        let budget = RetryBudget()
        let policy = CircuitBreakerPolicy()
        for host in 0..<20_000 {
            hostHealth.deposit(budget, host: "\(host)")
            hostHealth.ended(.success, policy, host: "\(host)", now: .zero)
        }
        #expect(hostHealth.count == 0)
        for host in 0..<20_000 {
            _ = hostHealth.withdraw(budget, host: "\(host)")
            hostHealth.ended(.failure, policy, host: "\(host)", now: .zero)
        }
        #expect(hostHealth.count <= 2 * HostTable<Int>.capacity)
    }
}
