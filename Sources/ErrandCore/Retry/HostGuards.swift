import Synchronization

/// What retries and failures have done to each host: budgets and circuits, where the configuration has them.
package final class HostGuards: Sendable {
    private struct State {
        var purses: [String: RetryPurse] = [:]
        var circuits: [String: CircuitBreaker] = [:]
    }

    /// More hosts than this are not remembered at once.
    private static let mostHosts = 4096

    private let state = Mutex(State())

    package init() {}

    func deposit(_ budget: RetryBudget, host: String) {
        state.withLock { state in
            if state.purses.count >= Self.mostHosts { state.purses.removeAll() }
            state.purses[host, default: RetryPurse(budget)].deposit(budget)
        }
    }

    func withdraw(_ budget: RetryBudget, host: String) -> Bool {
        state.withLock { $0.purses[host, default: RetryPurse(budget)].withdraw() }
    }

    func request(
        _ policy: CircuitBreakerPolicy, host: String, now: Duration
    ) -> CircuitBreaker.Verdict {
        state.withLock { $0.circuits[host]?.request(policy, now: now) ?? .pass }
    }

    func ended(
        _ outcome: CircuitBreaker.Outcome, _ policy: CircuitBreakerPolicy, host: String,
        now: Duration
    ) {
        state.withLock { state in
            var circuit = state.circuits[host] ?? CircuitBreaker()
            circuit.ended(outcome, policy, now: now)
            // A host without failures needs no entry.
            state.circuits[host] = circuit.isIdle ? nil : circuit
        }
    }
}
