import ErrandHTTP
import Synchronization

/// The retry budgets and circuit breakers of recently used hosts, if the configuration has them.
package final class HostHealth: Sendable {
    private struct State {
        var tokenBuckets = HostTable<RetryTokenBucket>()
        var circuits = HostTable<CircuitBreaker>()
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of entries in both tables.
    package var count: Int { state.withLock { $0.tokenBuckets.count + $0.circuits.count } }

    /// The circuits that are not closed or have counted failures, by host.
    package var circuits: [String: CircuitBreaker] {
        state.withLock { $0.circuits.values }.filter { !$0.value.isIdle }
    }

    package func deposit(_ budget: RetryBudget, host: String) {
        change(budget, host) { $0.deposit(budget) }
    }

    package func withdraw(_ budget: RetryBudget, host: String) -> Bool {
        change(budget, host) { $0.withdraw() }
    }

    /// Asks whether a request may be sent; also returns the new state if this changed it.
    package func request(
        _ policy: CircuitBreakerPolicy, host: String, now: Duration
    ) -> (CircuitBreaker.Decision, CircuitBreakerPolicy.State?) {
        change(host) { $0.request(policy, now: now) }
    }

    /// Records the end of an attempt; returns the new state if this changed it.
    @discardableResult
    package func ended(
        _ outcome: CircuitBreaker.Outcome, _ policy: CircuitBreakerPolicy, host: String,
        now: Duration
    ) -> CircuitBreakerPolicy.State? {
        change(host) { $0.ended(outcome, policy, now: now) }.1
    }

    private func change<Result: Sendable>(
        _ budget: RetryBudget, _ host: String, _ change: (inout RetryTokenBucket) -> Result
    ) -> Result {
        state.withLock { state in
            state.tokenBuckets.update(
                host, new: RetryTokenBucket(budget), isIdle: { $0 == RetryTokenBucket(budget) },
                change)
        }
    }

    private func change<Result: Sendable>(
        _ host: String, _ change: (inout CircuitBreaker) -> Result
    ) -> (Result, CircuitBreakerPolicy.State?) {
        state.withLock { state in
            state.circuits.update(host, new: CircuitBreaker(), isIdle: \.isIdle) { circuit in
                let before = circuit.state.kind
                let result = change(&circuit)
                return (result, circuit.state.kind == before ? nil : circuit.state.kind)
            }
        }
    }
}
