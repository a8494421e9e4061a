package import ErrandTransport

/// The states of a transfer as a pure state machine: events in, actions out.
///
///     waiting ─▶ receiving ◀─▶ paused            `stop` ends any state at once;
///                    │            │              `abort` marks it from inside a callback:
///                    ▼            ▼              the end follows when libcurl has finished
///                finishing ◀─▶ held ─▶ ended
///
/// There is exactly one ``Action/end(_:)``, and after it only ``Action/nothing``.
package struct TransferState: Sendable {
    /// The way in which a transfer ends.
    package enum Ending: Sendable, Hashable {
        case complete
        case cancelled
        case shutDown
        case timedOut(RequestError.TimeoutKind)
        /// With an error that the easy handle stores.
        case failed

        /// Why a connection is closed that the transfer leaves before its response is complete.
        package var closeReason: Response.Connection.CloseReason {
            switch self {
            case .complete: .notPersistent
            case .cancelled: .cancelled
            case .shutDown: .shutDown
            case .timedOut: .timedOut
            case .failed: .failed
            }
        }
    }

    /// The next action of the easy handle.
    package enum Action: Sendable, Hashable {
        case nothing
        /// Add the handle to libcurl.
        case begin
        /// Remove the handle from libcurl, then report the end.
        case detachAndEnd(Ending)
        /// Report the end; libcurl does not have the handle.
        case end(Ending)
        /// Resume receiving in libcurl.
        case unpause
        /// libcurl has finished: deliver what the decoder still holds, then call
        /// ``drained(complete:)``.
        case drain
    }

    private enum Phase: Sendable, Hashable {
        case waiting, receiving, paused, finishing, held, ended
        /// A callback has aborted the transfer; libcurl may still have the handle.
        case aborting(Ending)
    }

    private var phase = Phase.waiting

    package init() {}

    /// Whether the receiver may be called.
    package var mayCallReceiver: Bool { phase == .receiving || phase == .finishing }

    /// Whether the receiver has paused.
    package var isPaused: Bool { phase == .paused || phase == .held }

    /// Whether a callback has aborted the transfer.
    package var isAborting: Bool {
        if case .aborting = phase { true } else { false }
    }

    /// Starts the transfer.
    package mutating func begin() -> Action {
        guard phase == .waiting else { return .nothing }
        phase = .receiving
        return .begin
    }

    /// Ends the transfer from outside libcurl's callbacks.
    package mutating func stop(_ ending: Ending) -> Action {
        switch phase {
        case .waiting, .held, .finishing:
            phase = .ended
            return .end(ending)
        case .receiving, .paused:
            phase = .ended
            return .detachAndEnd(ending)
        case .aborting(let earlier):
            phase = .ended
            return .detachAndEnd(earlier)
        case .ended:
            return .nothing
        }
    }

    /// Aborts the transfer from inside a callback; the first reason is kept.
    package mutating func abort(_ ending: Ending) {
        switch phase {
        case .receiving, .paused, .finishing, .held: phase = .aborting(ending)
        case .waiting, .aborting, .ended: break
        }
    }

    /// Pauses the receiver.
    package mutating func pause() {
        switch phase {
        case .receiving: phase = .paused
        case .finishing: phase = .held
        case .waiting, .paused, .held, .aborting, .ended: break
        }
    }

    /// Resumes the receiver.
    package mutating func resume() -> Action {
        switch phase {
        case .paused:
            phase = .receiving
            return .unpause
        case .held:
            phase = .finishing
            return .drain
        case .waiting, .receiving, .finishing, .aborting, .ended:
            return .nothing
        }
    }

    /// Records that libcurl has finished: the response is complete, or the transfer failed.
    package mutating func finished(complete: Bool) -> Action {
        switch phase {
        case .receiving where complete:
            phase = .finishing
            return .drain
        case .paused where complete:
            phase = .held
            return .nothing
        case .receiving, .paused:
            phase = .ended
            return .end(.failed)
        case .aborting(let ending):
            phase = .ended
            return .end(ending)
        case .waiting, .finishing, .held, .ended:
            return .nothing
        }
    }

    /// Records that the decoder has delivered its remaining bytes.
    package mutating func drained(complete: Bool) -> Action {
        switch phase {
        case .finishing:
            phase = .ended
            return .end(complete ? .complete : .failed)
        case .aborting(let ending):
            phase = .ended
            return .end(ending)
        case .waiting, .receiving, .paused, .held, .ended:
            return .nothing
        }
    }
}

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
