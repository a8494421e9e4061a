/// The life of a task as a pure machine: where its work stands, and whether it runs, was told to stop, or has ended.
///
///     described ▸ adapting ▸ waiting ⇄ in flight (attempt n) ▸ processing ▸ ended
///
/// Suspending and stopping hide the stage from whoever looks, and the end hides all. One end, whatever the order of events.
package struct TaskLife: Sendable, Equatable {
    /// Why a task was told to stop before its end.
    package enum StopReason: Sendable, Equatable {
        case cancelled
        case deadline
        case shutDown
    }

    package enum State: Sendable, Equatable {
        case running
        case stopping(StopReason)
        case ended
    }

    /// What the shell has to do.
    package enum Action: Sendable, Equatable {
        case nothing
        case cancelWork
    }

    package private(set) var state = State.running

    package init() {}

    /// Somebody wants the task to stop; the first reason counts.
    package mutating func stop(_ reason: StopReason) -> Action {
        guard state == .running else { return .nothing }
        state = .stopping(reason)
        return .cancelWork
    }

    /// Why the task was told to stop, while it has not ended.
    package var stopReason: StopReason? {
        if case .stopping(let reason) = state { reason } else { nil }
    }

    /// The work is over; returns why it was told to stop, if it was.
    ///
    /// The reason wins over what the work brought.
    package mutating func end() -> StopReason? {
        defer { state = .ended }
        if case .stopping(let reason) = state { return reason }
        return nil
    }

    /// What the task shows of itself.
    package func phase(at stage: TaskStage, isSuspended: Bool) -> RequestTask.Phase {
        switch (state, stage) {
        case (.ended, _): .ended
        case (.stopping, _): .cancelling
        case (.running, _) where isSuspended: .suspended
        case (.running, .described): .described
        case (.running, .adapting): .adapting
        case (.running, .waiting): .waiting
        case (.running, .inFlight(let attempt)): .inFlight(attempt: attempt)
        case (.running, .processing): .processing
        }
    }
}
