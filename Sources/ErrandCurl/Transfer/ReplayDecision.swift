/// Whether a transfer that broke begins again on a connection of its own: a pure function.
///
/// A server may close a kept connection at any moment, also as the next request is on its way, and the client cannot
/// know whether that was read. What is idempotent may be sent again by itself (RFC 9110 §9.2.2), provided that nothing of
/// an answer has come. libcurl does so too, but not when sending the body fails, and not more than five times, which a
/// restarted server's dead connections use up.
package struct ReplayDecision: Sendable {
    /// The request may be sent twice.
    package var mayReplay: Bool
    /// All connections that the request went out on had served others before.
    package var wasReused: Bool
    /// A line of an answer has come.
    package var hasAnswerBegun: Bool
    /// The connection broke; false for every other failure.
    package var isConnectionLost: Bool
    /// Whoever waits for the answer still does.
    package var isWanted: Bool

    package init(
        mayReplay: Bool, wasReused: Bool, hasAnswerBegun: Bool, isConnectionLost: Bool,
        isWanted: Bool
    ) {
        self.mayReplay = mayReplay
        self.wasReused = wasReused
        self.hasAnswerBegun = hasAnswerBegun
        self.isConnectionLost = isConnectionLost
        self.isWanted = isWanted
    }

    /// Whether to begin again, if the body can be read once more.
    package var beginsAgain: Bool {
        mayReplay && wasReused && isConnectionLost && !hasAnswerBegun && isWanted
    }
}
