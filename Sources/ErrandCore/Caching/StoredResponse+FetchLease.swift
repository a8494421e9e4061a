extension StoredResponse {
    /// The permission to load a missing response, of which a store grants one at a time per key.
    public enum FetchLease: Sendable, Hashable {
        /// The caller loads the response, stores it, and releases the lease.
        case granted(token: String)
        /// Another process held the lease and has released it: look for its entry.
        case released
        /// The store cannot decide, or the wait was too long: load the response without a lease.
        case unavailable
    }

    /// A store whose processes agree on which of them loads a missing response.
    ///
    /// When an entry that many processes use expires, one of them loads the response and the others
    /// wait a bounded time for its entry. Writing an entry ends the lease of its key.
    public protocol FetchLeasing: ResponseStore {
        /// Requests the permission to load the response of a key.
        ///
        /// Returns at once if no other process loads it. Otherwise it waits until that process has
        /// released its lease, for a time that the store bounds, or until the calling task is
        /// cancelled.
        func acquireFetchLease(for key: CacheKey) async -> FetchLease

        /// Ends a lease when no entry will be stored.
        ///
        /// Does nothing if the lease has already ended.
        func releaseFetchLease(_ token: String, for key: CacheKey) async
    }
}

extension PendingCacheWrites {
    /// Loads a missing response in one process at a time, if the store supports it.
    ///
    /// - Parameters:
    ///   - key: The key of the response, computed only for such a store; without one, the response
    ///     is loaded at once.
    ///   - lookUp: Looks for a stored response; `nil` if there is none that can be used.
    ///   - load: Loads the response and queues its entry.
    package func loadOnce<Value>(
        _ key: @autoclosure () -> CacheKey?, in store: any ResponseStore,
        lookUp: () async -> Value?,
        load: () async throws(RequestError) -> Value
    ) async throws(RequestError) -> Value {
        guard let store = store as? any StoredResponse.FetchLeasing, let key = key() else {
            return try await load()
        }
        // Once more, because the process that held the lease may have failed.
        for _ in 0..<2 {
            switch await store.acquireFetchLease(for: key) {
            case .unavailable: return try await load()
            case .released:
                if let value = await lookUp() { return value }
            case .granted(let token):
                // Another process may have stored the entry before the lease was granted.
                if let value = await lookUp() {
                    await store.releaseFetchLease(token, for: key)
                    return value
                }
                do throws(RequestError) {
                    let value = try await load()
                    // A queued entry ends the lease when it is written.
                    guard case .entry = reading(of: key) else {
                        await store.releaseFetchLease(token, for: key)
                        return value
                    }
                    return value
                } catch {
                    await store.releaseFetchLease(token, for: key)
                    throw error
                }
            }
        }
        return try await load()
    }
}
