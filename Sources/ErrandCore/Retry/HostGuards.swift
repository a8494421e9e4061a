import Synchronization

/// What retries and failures have done to each host of late: budgets and circuits, where the configuration has them.
package final class HostGuards: Sendable {
    private struct State {
        var purses = HostTable<RetryPurse>()
        var circuits = HostTable<CircuitBreaker>()
    }

    private let state = Mutex(State())

    package init() {}

    /// How many hosts are remembered.
    package var count: Int { state.withLock { $0.purses.count + $0.circuits.count } }

    func deposit(_ budget: RetryBudget, host: String) {
        change(budget, host) { $0.deposit(budget) }
    }

    func withdraw(_ budget: RetryBudget, host: String) -> Bool {
        change(budget, host) { $0.withdraw() }
    }

    func request(
        _ policy: CircuitBreakerPolicy, host: String, now: Duration
    ) -> CircuitBreaker.Verdict {
        change(host) { $0.request(policy, now: now) }
    }

    func ended(
        _ outcome: CircuitBreaker.Outcome, _ policy: CircuitBreakerPolicy, host: String,
        now: Duration
    ) {
        change(host) { $0.ended(outcome, policy, now: now) }
    }

    private func change<Result: Sendable>(
        _ budget: RetryBudget, _ host: String, _ change: (inout RetryPurse) -> Result
    ) -> Result {
        state.withLock { state in
            state.purses.update(
                host, new: RetryPurse(budget), isIdle: { $0 == RetryPurse(budget) }, change)
        }
    }

    private func change<Result: Sendable>(
        _ host: String, _ change: (inout CircuitBreaker) -> Result
    ) -> Result {
        state.withLock { state in
            state.circuits.update(host, new: CircuitBreaker(), isIdle: \.isIdle, change)
        }
    }
}
