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
        /// Checkpoints of this log have failed since `first`, the latest one at `last`.
        case waiting(first: Instant, last: Instant, generation: UInt64?)
        case blocked(until: Instant, generation: UInt64?)
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
        if case .blocked(let until, _) = phase, now() < until { return .refuse }
        return .checkpoint
    }

    /// Records a checkpoint.
    ///
    /// Among several writers, each prevents checkpoints of the others for moments. If one of them
    /// has emptied the log since the last failure, nothing blocks it, and the patience begins again.
    ///
    /// - Parameters:
    ///   - didEmpty: False if another connection prevented that the log was emptied.
    ///   - generation: A number that changes when the log starts again at its beginning; `nil` if it
    ///     is unknown.
    mutating func checkpointEnded(
        didEmpty: Bool, generation: UInt64?, now: Instant
    ) -> Outcome {
        if didEmpty {
            phase = .open
            return .emptied
        }
        switch phase {
        case .waiting(let first, let last, let known)
        where now - last <= patience && known == generation:
            if now - first < patience {
                phase = .waiting(first: first, last: now, generation: generation)
                return .tryAgain
            }
        case .blocked(_, let known) where known == generation: break
        case .open, .waiting, .blocked:
            // Also if the earlier attempts are long ago: those writes ended without a further one.
            if patience > .zero {
                phase = .waiting(first: now, last: now, generation: generation)
                return .tryAgain
            }
        }
        phase = .blocked(until: now + pause, generation: generation)
        return .blocked
    }
}
