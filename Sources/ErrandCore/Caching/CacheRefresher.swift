import Synchronization

/// Revalidates stored responses in the background (RFC 5861 §3), with one request at a time for each entry.
package final class CacheRefresher: Sendable {
    package typealias Start = @Sendable (RequestDescription) -> RequestTask?

    private struct State {
        var start: Start?
        var inProgress: Set<CacheKey> = []
    }

    private let state = Mutex(State())
    /// Whether the store may contain responses of ``CachePolicy/http``.
    let presence: HTTPCachePresence

    package init(presence: HTTPCachePresence = HTTPCachePresence(isUsed: false)) {
        self.presence = presence
    }

    /// Sets the closure that starts background requests.
    package func start(with start: @escaping Start) {
        state.withLock { $0.start = start }
    }

    /// Starts the revalidation of an entry, unless one is in progress.
    func refresh(_ key: CacheKey, _ description: RequestDescription) {
        let start = state.withLock { state in
            state.inProgress.insert(key).inserted ? state.start : nil
        }
        guard let start else { return }
        var background = description
        background.isBackgroundRevalidation = true
        background.progressHandler = nil
        background.duplicatePolicy = .allow
        background.processors = []
        background.writesCacheAsynchronously = true
        if description.isStreamed {
            // A background request has no reader: its body is collected, and accepted as that of a stream.
            background.isStreamed = false
            background.responseSerializer = .data
        }
        guard let task = start(background) else { return end(key) }
        task.whenEnded { [weak self] _ in self?.end(key) }
    }

    private func end(_ key: CacheKey) {
        state.withLock { _ = $0.inProgress.remove(key) }
    }
}
