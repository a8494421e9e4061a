/// When to leave a host in peace that fails again and again.
///
/// Failures are those that are the host's: no connection, a lost one, a name without an address, a failed handshake, a
/// time limit of a transfer, an answer that is no HTTP or is cut off, and 5xx. What the request or its settings are to
/// blame for, such as a body that is too large, a redirect that is not followed or a pin, is none.
public struct CircuitBreakerPolicy: Sendable, Hashable {
    /// How many failures in a row open the circuit.
    ///
    /// Default 5.
    public var failures: Int
    /// How long nothing is sent then, before one request tries again; so long, too, the others wait for what comes of
    /// that before the next one tries.
    ///
    /// Default 30 s.
    public var pause: Duration

    /// Makes a policy.
    public init(failures: Int = 5, pause: Duration = .seconds(30)) {
        self.failures = failures
        self.pause = pause
    }

    /// The pause that counts.
    var usedPause: Duration { pause.countable }
}

/// The circuit of one host, a pure machine: closed, open, half open.
package struct CircuitBreaker: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: Duration)
        /// One request tries; the others are refused until its end is known, or this moment has come: it may be
        /// suspended, or stand in a line.
        case halfOpen(until: Duration)
    }

    package enum Verdict: Sendable, Equatable {
        case pass
        case refuse(for: Duration)
        /// One request tries already; how long at most until another may.
        case refuseBesideProbe(for: Duration)
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
            state = .halfOpen(until: now + policy.usedPause)
            return .pass
        case .halfOpen(let until):
            guard now >= until else { return .refuseBesideProbe(for: until - now) }
            state = .halfOpen(until: now + policy.usedPause)
            return .pass
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
                ? .open(until: now + policy.usedPause) : .closed(failures: failures + 1)
        case (.halfOpen, .failure): state = .open(until: now + policy.usedPause)
        // The one that tried told nothing: the next may try at once.
        case (.halfOpen, .none): state = .open(until: now)
        // An attempt that began before the circuit opened.
        case (.open, _), (.closed, .none): break
        }
    }
}

extension CircuitBreaker.Outcome {
    /// What an attempt says about its host: only what is the host's fault counts against it.
    ///
    /// - Parameter error: Why it failed; `nil` where it did not.
    package init(_ error: RequestError?) {
        guard let error else {
            self = .success
            return
        }
        switch error.code {
        case .cancelled: self = .none
        case .cannotFindHost, .cannotConnect, .connectionLost, .secureConnectionFailed,
            .truncatedBody, .transportFailed:
            self = .failure
        case .timedOut: self = error.timeout == .total ? .none : .failure
        case .badServerResponse where error.response == nil: self = .failure
        default:
            // Whatever else is wrong with it: an answer came.
            guard let status = error.response?.status.code else {
                self = .none
                return
            }
            self = (500..<600).contains(status) ? .failure : .success
        }
    }
}
