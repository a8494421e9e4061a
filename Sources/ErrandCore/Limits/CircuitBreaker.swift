package import ErrandHTTP

/// The circuit breaker of one host: closed, open, or half open; pure.
package struct CircuitBreaker: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: Duration)
        /// One request probes the host; others are refused until it ends, or until this time, because the probe may be
        /// suspended or queued.
        case halfOpen(until: Duration)

        /// The state without its numbers.
        var kind: CircuitBreakerPolicy.State {
            switch self {
            case .closed: .closed
            case .open: .open
            case .halfOpen: .halfOpen
            }
        }
    }

    package enum Decision: Sendable, Equatable {
        case pass
        case refuse(for: Duration)
        /// Another request probes the host; after this duration at the latest, the next request may probe.
        case refuseDuringProbe(for: Duration)
    }

    package enum Outcome: Sendable, Equatable {
        case success, failure
        /// No information about the host: cancelled, or refused before it was sent.
        case none
    }

    package private(set) var state = State.closed(failures: 0)

    package init() {}

    package var isIdle: Bool { state == .closed(failures: 0) }

    package mutating func request(_ policy: CircuitBreakerPolicy, now: Duration) -> Decision {
        switch state {
        case .closed: return .pass
        case .open(let until):
            guard now >= until else { return .refuse(for: until - now) }
            state = .halfOpen(until: now + policy.usedPause)
            return .pass
        case .halfOpen(let until):
            guard now >= until else { return .refuseDuringProbe(for: until - now) }
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
        // The probe ended without information: the next request may probe at once.
        case (.halfOpen, .none): state = .open(until: now)
        // The attempt started before the circuit opened.
        case (.open, _), (.closed, .none): break
        }
    }
}

extension CircuitBreaker.Outcome {
    /// Classifies the end of an attempt: only failures of the host count against it.
    ///
    /// - Parameter error: The error of the attempt; `nil` if it succeeded.
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
            // The host has responded, so only a 5xx status counts as its failure.
            guard let status = error.response?.status.code else {
                self = .none
                return
            }
            self = (500..<600).contains(status) ? .failure : .success
        }
    }
}
