#if Redis
    /// Decides whether commands are sent, wait for a connection, or bypass the server; pure.
    ///
    /// Unlike ``CircuitBreaker``, no request is a probe: the loop connects again in the background,
    /// and a complete handshake closes the circuit. Times are nanoseconds of a monotonic clock.
    struct ServerHealth: Sendable, Equatable {
        enum State: Sendable, Equatable {
            /// Nothing was sent yet.
            case idle
            /// A connection is being made, and commands wait for it.
            case connecting
            /// Connected; removals that the server missed are performed before other commands.
            case recovering
            case up
            /// Commands bypass the server. `retryAt` is `nil` while a connection is being made.
            case down(retryAt: Int64?)
        }

        enum Decision: Sendable, Equatable {
            case send
            /// Wait for the connection; `starts` if this command must start it.
            case wait(starts: Bool)
            case bypass(RedisFailure)
        }

        private(set) var state = State.idle
        /// The consecutive failed attempts.
        private(set) var failures = 0
        /// The reason of the current outage.
        private(set) var reason: RedisFailure?

        /// The time of the next attempt; `nil` if none is planned.
        var retryAt: Int64? {
            if case .down(let time) = state { return time }
            return nil
        }

        /// Decides about a command.
        mutating func request() -> Decision {
            switch state {
            case .idle:
                state = .connecting
                return .wait(starts: true)
            case .connecting: return .wait(starts: false)
            case .up: return .send
            case .recovering:
                return .bypass(
                    RedisFailure(
                        kind: .bypassed, message: "removals that it missed are being repeated"))
            case .down:
                let message = reason?.message ?? "no connection"
                return .bypass(RedisFailure(kind: .bypassed, message: message))
            }
        }

        /// All connections are made.
        mutating func connected(needsRecovery: Bool) {
            state = needsRecovery ? .recovering : .up
            if !needsRecovery { recovered() }
        }

        /// Removals were missed although the server is up; whether the recovery must start.
        mutating func recover() -> Bool {
            guard state == .up else { return false }
            state = .recovering
            return true
        }

        /// The missed removals were performed.
        mutating func recovered() {
            state = .up
            failures = 0
            reason = nil
        }

        /// An attempt failed, or commands exceeded their limit; the next attempt is delayed.
        ///
        /// - Parameter jitter: A random number in 0..<1.
        /// - Returns: Whether the failure is to be reported: once for each reason of an outage.
        mutating func failed(_ failure: RedisFailure, now: Int64, jitter: Double) -> Bool {
            failures += 1
            state = .down(retryAt: now + Self.delay(after: failures, jitter: jitter))
            return note(failure)
        }

        /// Connections were closed by the server: connect at once; commands wait for it.
        mutating func closed() { state = .connecting }

        /// A command has waited for the connection as long as it may: bypass until it is made.
        ///
        /// - Returns: Whether the failure is to be reported.
        mutating func waitExpired(_ failure: RedisFailure) -> Bool {
            guard state == .connecting else { return false }
            state = .down(retryAt: nil)
            return note(failure)
        }

        /// Whether an attempt must start now.
        mutating func attemptIsDue(now: Int64) -> Bool {
            guard case .down(let time?) = state, time <= now else { return false }
            state = .down(retryAt: nil)
            return true
        }

        private mutating func note(_ failure: RedisFailure) -> Bool {
            defer { reason = failure }
            return reason.map { $0.kind.isAvailability != failure.kind.isAvailability } ?? true
        }

        /// The delay before the next attempt: 50 ms, doubled up to 5 s, and up to a fifth more or
        /// less, so that many processes do not connect at the same moment.
        static func delay(after failures: Int, jitter: Double) -> Int64 {
            let base = min(50_000_000 << Int64(min(max(failures - 1, 0), 10)), 5_000_000_000)
            return Int64(Double(base) * (0.8 + 0.4 * jitter))
        }
    }
#endif
