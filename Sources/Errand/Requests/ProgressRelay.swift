import ErrandCore
import Synchronization

/// Carries progress from any thread to the main actor: the newest value at each turn, the last one before the end.
nonisolated final class ProgressRelay: Sendable {
    private let newest = Mutex<TransferProgress?>(nil)
    private let tell: @MainActor @Sendable (TransferProgress) -> Void

    init(_ tell: @escaping @MainActor @Sendable (TransferProgress) -> Void) { self.tell = tell }

    func offer(_ progress: TransferProgress) {
        let isFirst = newest.withLock { newest in
            defer { newest = progress }
            return newest == nil
        }
        guard isFirst else { return }
        Task { @MainActor in flush() }
    }

    /// Tells what has not been told yet.
    @MainActor
    func flush() {
        let progress = newest.withLock { newest in
            defer { newest = nil }
            return newest
        }
        if let progress { tell(progress) }
    }
}
