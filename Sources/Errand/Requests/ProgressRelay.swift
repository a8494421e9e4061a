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
