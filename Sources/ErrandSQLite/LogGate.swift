/// Decides whether a write may extend the write-ahead log, or must empty the log first.
///
/// SQLite appends to the log until a checkpoint has copied all of it into the database while no
/// reader uses it. Under steady writes, or with a reader that never ends, that does not happen by
/// itself. This state machine limits the log: a write that does not fit must empty it, and if that
/// is impossible for some time, writes are refused until a later checkpoint succeeds.
struct LogGate: Sendable, Equatable {
    typealias Instant = ContinuousClock.Instant

    /// What a write does.
    enum Decision: Sendable, Equatable {
        /// The write fits.
        case extend
        /// The write must empty the log first.
        case checkpoint
        /// The log is blocked, and the next checkpoint is not due yet.
        case refuse
    }

    /// What follows from a checkpoint.
    enum Outcome: Sendable, Equatable {
        /// The log is empty; the write can continue.
        case emptied
        /// Another connection prevented it; try again after a short time.
        case tryAgain
        /// Other connections have prevented it for too long; the write fails.
        case blocked
    }

    private enum Phase: Sendable, Equatable {
        case open
        /// Checkpoints have failed since `first`, the latest one at `last`.
        case waiting(first: Instant, last: Instant)
        case blocked(until: Instant)
    }

    /// Whether writes are refused until a checkpoint succeeds.
    var isBlocked: Bool {
        if case .blocked = phase { return true }
        return false
    }

    private let limit: Int
    private let patience: Duration
    private let pause: Duration
    private var phase = Phase.open

    init(_ limits: StoreLimits) {
        limit = limits.logBytes
        patience = limits.checkpointPatience
        pause = limits.checkpointPause
    }

    /// Decides about a write.
    ///
    /// - Parameters:
    ///   - log: The size of the log, in bytes.
    ///   - adding: The bytes that the write appends.
    func decide(log: Int, adding: Int, now: @autoclosure () -> Instant) -> Decision {
        // A single entry may exceed the limit of the log; it needs an empty one.
        if log == 0 || log + adding <= limit { return .extend }
        if case .blocked(let until) = phase, now() < until { return .refuse }
        return .checkpoint
    }

    /// Records a checkpoint.
    ///
    /// - Parameter didEmpty: False if another connection prevented that the log was emptied.
    mutating func checkpointEnded(didEmpty: Bool, now: Instant) -> Outcome {
        if didEmpty {
            phase = .open
            return .emptied
        }
        switch phase {
        case .waiting(let first, let last) where now - last <= patience:
            if now - first < patience {
                phase = .waiting(first: first, last: now)
                return .tryAgain
            }
        case .open, .waiting:
            // Also if the earlier attempts are long ago: those writes ended without a further one.
            if patience > .zero {
                phase = .waiting(first: now, last: now)
                return .tryAgain
            }
        case .blocked: break
        }
        phase = .blocked(until: now + pause)
        return .blocked
    }
}
