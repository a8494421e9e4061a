import ErrandHTTP

/// The settings of a circuit breaker, which stops sending to a host after repeated failures.
///
/// Failures are those that the host causes: connection and handshake failures, name resolution
/// failures, lost connections, transfer timeouts, invalid or truncated responses, and 5xx. Failures
/// caused by the request or its settings do not count, such as a body that is too large, a redirect
/// that is not followed, or a pin mismatch.
public struct CircuitBreakerPolicy: Sendable, Hashable {
    /// The state of one host's circuit breaker.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Requests are sent.
        case closed
        /// Requests are refused with ``RequestError/Code/circuitOpen``.
        case open
        /// One request probes the host; others are refused.
        case halfOpen
    }

    /// The number of consecutive failures that open the circuit.
    ///
    /// Default 5; less than 1 fails requests with ``RequestError/Code/invalidConfiguration``.
    public var failures: Int
    /// The time during which nothing is sent, before one request probes the host.
    ///
    /// Default 30 s; a negative time fails requests with ``RequestError/Code/invalidConfiguration``.
    ///
    /// Also the maximum time to wait for the probe's result before another request probes.
    public var pause: Duration

    /// Creates a policy.
    public init(failures: Int = 5, pause: Duration = .seconds(30)) {
        self.failures = failures
        self.pause = pause
    }

    var usedPause: Duration { pause.clamped }

    /// Describes an invalid value; `nil` if all are valid.
    package var fault: String? {
        if failures < 1 { return "circuitBreaker.failures is \(failures). Set at least 1." }
        return pause < .zero ? "circuitBreaker.pause is \(pause). Set zero or more." : nil
    }
}
