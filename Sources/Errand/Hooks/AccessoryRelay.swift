import ErrandCore
import Synchronization

/// Carries what happens to a task, on any thread, to the accessories of its request, on the main actor: in order, and
/// nothing behind the end.
nonisolated final class AccessoryRelay: Sendable {
    private struct State {
        var changes: [RequestTask.Change] = []
        var isClosed = false
        /// Whether the accessories heard of a cancellation from here.
        var hasToldCancel = false
    }

    private let state = Mutex(State())
    private let tell: @MainActor @Sendable (RequestTask.Change) -> Void

    @MainActor
    init(request: BaseRequest) {
        tell = { [weak request] change in
            guard let request else { return }
            for accessory in request.everyAccessory {
                switch change {
                case .willSuspend: accessory.requestWillSuspend(request)
                case .didResume: accessory.requestDidResume(request)
                case .willCancel: accessory.requestWillCancel(request)
                case .ended: break
                }
            }
        }
    }

    /// Takes a change; the end has a way of its own.
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

    /// Tells what is on its way, and takes nothing more.
    ///
    /// - Returns: Whether the accessories have heard that the request is cancelled. A cancellation from before somebody
    ///   observed the task, or that is still on its way here, is for the end to tell.
    @MainActor
    func close() -> Bool {
        flush(isLast: true)
        return state.withLock { $0.hasToldCancel }
    }

    @MainActor
    private func flush(isLast: Bool = false) {
        let changes = state.withLock { state in
            if isLast { state.isClosed = true }
            if state.changes.contains(.willCancel) { state.hasToldCancel = true }
            defer { state.changes = [] }
            return state.changes
        }
        for change in changes { tell(change) }
    }
}
