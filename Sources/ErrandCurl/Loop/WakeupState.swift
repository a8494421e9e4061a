/// A pure state machine that decides which thread processes a posted message.
///
/// The loop's thread reports when it falls asleep and when it wakes. While it sleeps, one caller
/// may run a turn in its place. Other callers leave their messages to that caller, which checks the
/// mailbox again before it returns.
package struct WakeupState: Sendable, Hashable {
    /// The action of a thread that has posted a message.
    package enum Action: Sendable, Hashable {
        /// Another thread will read the message.
        case nothing
        /// Wake the loop's thread.
        case wake
        /// Run a turn, then call ``WakeupState/returned(isThreadNeeded:)``.
        case runOnCaller
    }

    private var isAsleep = false
    private var allowsCallerTurns = false
    private var isWoken = false
    /// Whether a caller runs a turn.
    package private(set) var isCallerTurn = false

    package init() {}

    /// Records that the loop's thread falls asleep.
    ///
    /// - Parameter allowsCallerTurns: Whether callers may run turns meanwhile.
    package mutating func fallsAsleep(allowsCallerTurns: Bool) {
        isAsleep = true
        self.allowsCallerTurns = allowsCallerTurns
    }

    /// Records that the loop's thread is awake, for any reason.
    package mutating func wakes() {
        isAsleep = false
        isWoken = false
    }

    /// Records that a message was posted; returns the action of the posting thread.
    package mutating func posted(mayRunOnCaller: Bool) -> Action {
        guard isAsleep, !isWoken, !isCallerTurn else { return .nothing }
        if mayRunOnCaller, allowsCallerTurns {
            isCallerTurn = true
            return .runOnCaller
        }
        isWoken = true
        return .wake
    }

    /// Records that a caller's turn is over; returns true if the caller has to wake the loop's
    /// thread.
    package mutating func returned(isThreadNeeded: Bool) -> Bool {
        isCallerTurn = false
        guard isThreadNeeded, isAsleep, !isWoken else { return false }
        isWoken = true
        return true
    }
}
