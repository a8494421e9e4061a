import Foundation
import HTTPTypes
import Testing

@testable import ErrandCore

@Suite struct HostTableTests {
    private func count(_ table: inout HostTable<Int>, _ host: String, _ change: Int = 1) {
        table.update(host, new: 0, isIdle: { $0 == 0 }) { $0 += change }
    }

    @Test func whatSaysNothingIsNotKept() {
        var table = HostTable<Int>()
        count(&table, "a")
        count(&table, "b", 0)
        #expect(table.count == 1)
        count(&table, "a", -1)
        #expect(table.count == 0)
    }

    @Test func theOneNotAskedForTheLongestGoesFirst() {
        var table = HostTable<Int>(capacity: 3)
        for host in ["a", "b", "c"] { count(&table, host) }
        _ = table.value(for: "a")
        count(&table, "d")
        let left = ["a", "b", "c", "d"].map { table.value(for: $0) }
        #expect(left == [1, nil, 1, 1])
    }

    @Test func whatBecomesIdleByTimeIsLetGo() {
        var now = 0
        var table = HostTable<Int>()
        for host in 0..<100_000 {
            now += 1
            table.update("\(host)", new: 0, isIdle: { $0 + 10 < now }) { $0 = now }
            #expect(table.count <= 200)
        }
    }

    @Test func aPacerForgetsHostsWhoseBucketIsFull() {
        let pacer = Pacer()
        let limit = RateLimit(requests: 1, per: .seconds(1))
        for host in 0..<10_000 {
            _ = pacer.reserve("\(host)", limit: limit, now: .milliseconds(100 * host))
        }
        #expect(pacer.count <= 200)
    }

    @Test func aHostThatAskedForSilenceIsRemembered() {
        let pacer = Pacer()
        let silence = RateLimitHeaders(
            status: 429, headers: [.retryAfter: "200"], now: Date())
        pacer.learn(silence, of: "busy", now: .zero)
        let limit = RateLimit(requests: 1, per: .seconds(1))
        for host in 0..<1000 {
            _ = pacer.reserve("\(host)", limit: limit, now: .milliseconds(100 * host))
        }
        #expect(pacer.reserve("busy", limit: nil, now: .seconds(100)) == .seconds(100))
    }

    @Test func guardsForgetHostsThatAreWell() {
        let guards = HostGuards()
        let budget = RetryBudget()
        let policy = CircuitBreakerPolicy()
        for host in 0..<20_000 {
            guards.deposit(budget, host: "\(host)")
            guards.ended(.success, policy, host: "\(host)", now: .zero)
        }
        #expect(guards.count == 0)
        for host in 0..<20_000 {
            _ = guards.withdraw(budget, host: "\(host)")
            guards.ended(.failure, policy, host: "\(host)", now: .zero)
        }
        #expect(guards.count <= 2 * HostTable<Int>.capacity)
    }
}
