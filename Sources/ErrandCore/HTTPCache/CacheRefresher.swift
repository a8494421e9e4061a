import Synchronization

/// Renews stored answers behind the back of who was answered (RFC 5861 §3): one request at a time for each.
package final class CacheRefresher: Sendable {
    package typealias Start = @Sendable (RequestDescription) -> RequestTask?

    private struct State {
        var start: Start?
        var underWay: Set<CacheKey> = []
    }

    private let state = Mutex(State())
    /// Whether there is anything that a change could make out of date.
    let use: CacheUse

    /// - Parameter use: What is known of the agent's store.
    package init(use: CacheUse = CacheUse(isUsed: false)) { self.use = use }

    /// Says who carries requests out.
    package func start(with start: @escaping Start) {
        state.withLock { $0.start = start }
    }

    /// Asks for an answer anew, unless somebody does so already.
    func renew(_ key: CacheKey, _ description: RequestDescription) {
        let start = state.withLock { state in
            state.underWay.insert(key).inserted ? state.start : nil
        }
        guard let start else { return }
        var renewing = description
        renewing.renewsStored = true
        renewing.progressHandler = nil
        renewing.duplicatePolicy = .allow
        renewing.processors = []
        renewing.writesCacheAsynchronously = true
        guard let task = start(renewing) else { return end(key) }
        task.whenEnded { [weak self] _ in self?.end(key) }
    }

    private func end(_ key: CacheKey) {
        state.withLock { _ = $0.underWay.remove(key) }
    }
}
