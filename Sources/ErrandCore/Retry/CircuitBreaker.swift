/// When to leave a host in peace that fails again and again.
public struct CircuitBreakerPolicy: Sendable, Hashable {
    /// How many failures in a row open the circuit.
    ///
    /// Default 5.
    public var failures: Int
    /// How long nothing is sent then, before one request tries again.
    ///
    /// Default 30 s.
    public var pause: Duration

    /// Makes a policy.
    public init(failures: Int = 5, pause: Duration = .seconds(30)) {
        self.failures = failures
        self.pause = pause
    }
}

/// The circuit of one host, a pure machine: closed, open, half open.
package struct CircuitBreaker: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: Duration)
        /// One request tries; the others are refused until its end is known.
        case halfOpen
    }

    package enum Verdict: Sendable, Equatable {
        case pass
        case refuse(for: Duration)
    }

    package enum Outcome: Sendable, Equatable {
        case success, failure
        /// Says nothing about the host: cancelled, or refused before it was sent.
        case none
    }

    package private(set) var state = State.closed(failures: 0)

    package init() {}

    package var isIdle: Bool { state == .closed(failures: 0) }

    package mutating func request(_ policy: CircuitBreakerPolicy, now: Duration) -> Verdict {
        switch state {
        case .closed: return .pass
        case .open(let until):
            guard now >= until else { return .refuse(for: until - now) }
            state = .halfOpen
            return .pass
        case .halfOpen: return .refuse(for: .zero)
        }
    }

    package mutating func ended(
        _ outcome: Outcome, _ policy: CircuitBreakerPolicy, now: Duration
    ) {
        switch (state, outcome) {
        case (.closed, .success), (.halfOpen, .success): state = .closed(failures: 0)
        case (.closed(let failures), .failure):
            state =
                failures + 1 >= policy.failures
                ? .open(until: now + policy.pause) : .closed(failures: failures + 1)
        case (.halfOpen, .failure): state = .open(until: now + policy.pause)
        // The one that tried told nothing: the next may try at once.
        case (.halfOpen, .none): state = .open(until: now)
        // An attempt that began before the circuit opened.
        case (.open, _), (.closed, .none): break
        }
    }
}
