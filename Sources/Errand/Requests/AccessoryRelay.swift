import ErrandCore
import Synchronization

/// Notifies the accessories of a run, on the main actor, of changes of its task, which happen
/// on any thread.
///
/// The changes are delivered in order, and none after the end.
nonisolated final class AccessoryRelay: Sendable {
    private struct State {
        var changes: [RequestTask.Change] = []
        var isClosed = false
        /// Whether this relay has notified the accessories of a cancellation.
        var hasReportedCancel = false
    }

    private let state = Mutex(State())
    private let notify: @MainActor @Sendable (RequestTask.Change) -> Void

    /// Notifies the accessories of a unit of suspend, resume and cancel of its task; `nil` without accessories.
    @MainActor
    static func accompanying(
        _ unit: RequestUnit, _ task: RequestTask, by agent: RequestAgent?
    ) -> AccessoryRelay? {
        guard unit.hasAccessories(of: agent) else { return nil }
        let relay = AccessoryRelay(of: unit, by: agent)
        task.observe { relay.take($0) }
        return relay
    }

    @MainActor
    init(of unit: RequestUnit, by agent: RequestAgent?) {
        notify = { [weak unit] change in
            switch change {
            case .willSuspend: unit?.notify(.willSuspend, by: agent)
            case .didResume: unit?.notify(.didResume, by: agent)
            case .willCancel: unit?.notify(.willCancel, by: agent)
            case .ended: break
            }
        }
    }

    /// Queues a change.
    ///
    /// The end is ignored: it is delivered with the outcome.
    func take(_ change: RequestTask.Change) {
        guard change != .ended else { return }
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            state.changes.append(change)
            return state.changes.count == 1
        }
        guard isFirst else { return }
        Task { @MainActor in flush() }
    }

    /// Delivers the queued changes and accepts no more.
    ///
    /// - Returns: Whether the accessories were notified of a cancellation. If not, the end notifies
    ///   them: the task may have been cancelled before it was observed, or the change may not have
    ///   arrived here yet.
    @MainActor
    func close() -> Bool {
        flush(isLast: true)
        return state.withLock { $0.hasReportedCancel }
    }

    @MainActor
    private func flush(isLast: Bool = false) {
        let changes = state.withLock { state in
            if isLast { state.isClosed = true }
            if state.changes.contains(.willCancel) { state.hasReportedCancel = true }
            defer { state.changes = [] }
            return state.changes
        }
        for change in changes { notify(change) }
    }
}
