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

    /// Makes the closure that starts background requests, unless there is one.
    func start(with makeStart: () -> Start) {
        state.withLock { if $0.start == nil { $0.start = makeStart() } }
    }

    /// Starts the revalidation of an entry, unless one is in progress.
    func refresh(_ key: CacheKey, _ description: RequestDescription) {
        guard let start = state.withLock({ $0.start }),
            state.withLock({ $0.inProgress.insert(key).inserted })
        else { return }
        var background = description
        background.isBackgroundRevalidation = true
        background.sending.duplicates = .allow
        background.responseProcessors = []
        if background.isStreamed {
            // The revalidation has no reader: its body is collected like that of any other request.
            (background.isStreamed, background.acceptance.format) = (false, .any)
        }
        background.cache.writesAsynchronously = true
        guard let task = start(background) else { return end(key) }
        task.whenEnded { [weak self] _ in self?.end(key) }
    }

    private func end(_ key: CacheKey) {
        state.withLock { _ = $0.inProgress.remove(key) }
    }
}
