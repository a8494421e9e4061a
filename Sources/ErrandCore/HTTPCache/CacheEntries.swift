/// The store as a step sees it: with the writes that are on their way.
struct CacheEntries: Sendable {
    let store: any ResponseStore
    let writes: PendingCacheWrites

    /// The entry of a key, whatever its age.
    func read(_ key: CacheKey) async throws(RequestError) -> StoredResponse? {
        switch writes.reading(of: key) {
        case .entry(let entry): entry
        case .removed: nil
        case .unknown: try await store.entry(for: key)
        }
    }

    /// Drops an entry soon; who reads from now on finds none.
    func remove(_ key: CacheKey) { writes.enqueue(.remove, for: key, in: store) }

    /// Writes an entry soon, and tells nobody.
    func put(_ entry: StoredResponse, for key: CacheKey) {
        writes.enqueue(.store(entry), for: key, in: store)
    }

    /// Writes an entry: soon, or before this returns, as the endpoint wants it.
    ///
    /// The listeners hear of it.
    func write(_ entry: StoredResponse, for key: CacheKey, _ exchange: Exchange) async {
        let context = exchange.context
        let report: @Sendable (RequestError?) -> Void = { failure in
            context.emit(failure.map { .cacheWriteFailed($0) } ?? .cacheStored(bytes: entry.size))
        }
        if exchange.description.writesCacheAsynchronously {
            let hasRoom = writes.enqueue(.store(entry), for: key, in: store, onEnd: report)
            if !hasRoom { await writes.flush() }
        } else {
            report(await writes.write(.store(entry), for: key, in: store))
        }
    }
}
