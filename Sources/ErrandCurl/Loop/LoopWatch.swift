/// Whether the loop's thread sleeps, and what somebody who has put a message down has to do: a pure machine.
///
/// The thread says when it falls asleep and when it wakes. While it sleeps, one caller may have the turn in its place; whoever
/// comes meanwhile leaves the message to that caller, who looks again before leaving.
package struct LoopWatch: Sendable, Hashable {
    /// What to do about a message.
    package enum Duty: Sendable, Hashable {
        /// Somebody will find it.
        case nothing
        /// Wake the thread.
        case wake
        /// Have the turn, then say so with ``LoopWatch/returned(isThreadNeeded:)``.
        case lend
    }

    private var isAsleep = false
    private var isWoken = false
    /// Whether a caller has the turn.
    package private(set) var isLent = false

    package init() {}

    /// The thread has found nothing to do.
    package mutating func fallsAsleep() { isAsleep = true }

    /// The thread is awake, for whatever reason.
    package mutating func wakes() {
        isAsleep = false
        isWoken = false
    }

    /// A message was put down.
    package mutating func posted(mayLend: Bool) -> Duty {
        guard isAsleep, !isWoken, !isLent else { return .nothing }
        if mayLend {
            isLent = true
            return .lend
        }
        isWoken = true
        return .wake
    }

    /// A caller has had the turn; true where it has to wake the thread now.
    package mutating func returned(isThreadNeeded: Bool) -> Bool {
        isLent = false
        guard isThreadNeeded, isAsleep, !isWoken else { return false }
        isWoken = true
        return true
    }
}
