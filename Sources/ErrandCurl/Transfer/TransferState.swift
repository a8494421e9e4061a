package import ErrandCore

/// The life of one transfer, apart from all effects: events in, what to do out.
///
///     waiting ─▶ receiving ◀─▶ paused            `stop` ends any of them at once,
///                    │            │              `abort` marks them from inside a callback:
///                    ▼            ▼              the end follows when libcurl lets go
///                finishing ◀─▶ held ─▶ ended
///
/// There is exactly one ``Action/end(_:)``, and after it nothing but ``Action/nothing``.
package struct TransferState: Sendable {
    /// How a transfer ends.
    package enum Ending: Sendable, Hashable {
        case complete
        case cancelled
        case shutDown
        case timedOut(RequestError.TimeoutKind)
        /// By an error that the transfer keeps elsewhere.
        case failed
    }

    /// What the owner has to do next.
    package enum Action: Sendable, Hashable {
        case nothing
        /// Give the handle to libcurl.
        case begin
        /// Take the handle back from libcurl, then tell the end.
        case detachAndEnd(Ending)
        /// Tell the end; libcurl has let go of the handle, or never had it.
        case end(Ending)
        /// Let libcurl go on receiving.
        case unpause
        /// libcurl is done: hand over what the decoder still holds, then call ``drained(complete:)``.
        case drain
    }

    private enum Phase: Sendable, Hashable {
        case waiting, receiving, paused, finishing, held, ended
        /// A callback has given up; libcurl may still hold the handle.
        case aborting(Ending)
    }

    private var phase = Phase.waiting

    package init() {}

    /// Whether the receiver may be called.
    package var isLive: Bool { phase == .receiving || phase == .finishing }

    /// Whether the receiver has asked for a break.
    package var isPaused: Bool { phase == .paused || phase == .held }

    /// Whether a callback has given up.
    package var isAborting: Bool {
        if case .aborting = phase { true } else { false }
    }

    /// The loop takes the transfer up.
    package mutating func begin() -> Action {
        guard phase == .waiting else { return .nothing }
        phase = .receiving
        return .begin
    }

    /// Somebody outside libcurl's callbacks wants the end now.
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

    /// A callback gives up; the first reason stays.
    package mutating func abort(_ ending: Ending) {
        switch phase {
        case .receiving, .paused, .finishing, .held: phase = .aborting(ending)
        case .waiting, .aborting, .ended: break
        }
    }

    /// The receiver wants a break.
    package mutating func pause() {
        switch phase {
        case .receiving: phase = .paused
        case .finishing: phase = .held
        case .waiting, .paused, .held, .aborting, .ended: break
        }
    }

    /// The receiver wants to go on.
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

    /// libcurl has let go of the handle: the answer is complete, or something failed.
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

    /// The decoder has handed over what it could.
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
