import ErrandCore
import Synchronization

/// Forwards progress from any thread to the main actor: the newest value in each turn, and the last one before the
/// end.
nonisolated final class ProgressRelay: Sendable {
    private let newest = Mutex<TransferProgress?>(nil)
    private let handler: @MainActor @Sendable (TransferProgress) -> Void

    init(_ handler: @escaping @MainActor @Sendable (TransferProgress) -> Void) {
        self.handler = handler
    }

    func offer(_ progress: TransferProgress) {
        let isFirst = newest.withLock { newest in
            defer { newest = progress }
            return newest == nil
        }
        guard isFirst else { return }
        Task { @MainActor in flush() }
    }

    /// Reports the newest value that was not reported yet.
    @MainActor
    func flush() {
        let progress = newest.withLock { newest in
            defer { newest = nil }
            return newest
        }
        if let progress { handler(progress) }
    }
}

extension BaseRequest {
    /// Reports the progress of a run to the closure of ``Startable/onProgress(_:)``, if there is one.
    @MainActor
    func relayProgress(of task: RequestTask) -> ProgressRelay? {
        guard let closure = attachedProgress else { return nil }
        attachedProgress = nil
        let relay = ProgressRelay { [weak self] in if let self { closure(self, $0) } }
        task.onProgress { relay.offer($0) }
        return relay
    }

    /// Reports the progress of an awaited run, if the caller is on the main actor.
    ///
    /// The closure gets the request, which stays on the caller's actor.
    @inline(never)  // decision 10
    nonisolated func relayProgress(of task: RequestTask, to caller: (any Actor)?) {
        guard caller === MainActor.shared else { return }
        // Safe: the caller is on the main actor, and with it the request.
        nonisolated(unsafe) let request = self
        MainActor.assumeIsolated { request.progressRelay = request.relayProgress(of: task) }
    }

    /// Reports the last progress of an awaited run.
    nonisolated func flushProgress() {
        guard let relay = progressRelay else { return }
        progressRelay = nil
        MainActor.assumeIsolated { relay.flush() }
    }
}
