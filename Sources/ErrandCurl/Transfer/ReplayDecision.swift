/// Decides whether a failed transfer starts again on a new connection: a pure function.
///
/// A server may close a kept connection at any time, also while the next request is on its way, and
/// the client cannot know whether the server read that request. An idempotent request may be
/// repeated automatically (RFC 9110 §9.2.2) if no part of a response has arrived. libcurl does this
/// too, but not if sending the body fails, and at most five times, which the dead connections of a
/// restarted server can exhaust.
package struct ReplayDecision: Sendable {
    /// Whether the request may be sent twice.
    package var mayReplay: Bool
    /// Whether every connection that the request was sent on had carried another request before.
    package var wasReused: Bool
    /// Whether a line of a response has arrived.
    package var hasResponseBegun: Bool
    /// Whether the connection was lost; false for every other failure.
    package var isConnectionLost: Bool
    /// Whether the transfer is still active.
    package var isWanted: Bool

    package init(
        mayReplay: Bool, wasReused: Bool, hasResponseBegun: Bool, isConnectionLost: Bool,
        isWanted: Bool
    ) {
        self.mayReplay = mayReplay
        self.wasReused = wasReused
        self.hasResponseBegun = hasResponseBegun
        self.isConnectionLost = isConnectionLost
        self.isWanted = isWanted
    }

    /// Whether to replay the request, if its body can be read again.
    package var shouldReplay: Bool {
        mayReplay && wasReused && isConnectionLost && !hasResponseBegun && isWanted
    }
}
